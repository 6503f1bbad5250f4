// Runs before the page is drawn, so that the chosen language does not flash. All other scripts are deferred modules.
(() => {
  let language = navigator.language;
  try {
    language = localStorage.getItem("language") ?? language;
  } catch {
    // A browser may refuse storage.
  }
  document.documentElement.lang = language.toLowerCase().startsWith("ja") ? "ja" : "en";
})();
