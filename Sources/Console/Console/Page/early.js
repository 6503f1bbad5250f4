// Runs before the page is drawn, so that the chosen theme or language does not flash. All other scripts are deferred modules.
(() => {
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // A browser may refuse storage.
    }
  };

  const root = document.documentElement;
  const theme = kept("theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;

  const language = kept("language") ?? navigator.language;
  root.lang = language.toLowerCase().startsWith("ja") ? "ja" : "en";
})();
