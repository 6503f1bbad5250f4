// The two switches in the header of each page: theme and language. The browser stores the choice.

import { language, setLanguage, translate } from "./text.js";

const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage, the choice lasts until the page is left.
  }
}

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);

function show(button) {
  button.setAttribute("aria-pressed", String(isDark()));
}

/** Puts the texts in place and connects the switches. Call it once, before anything is drawn. */
export function startPreferences() {
  translate();

  const theme = document.getElementById("theme");
  theme?.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep("theme", root.dataset.theme);
    show(theme);
  });
  if (theme) {
    show(theme);
    systemIsDark.addEventListener("change", () => show(theme));
  }

  document.getElementById("language")?.addEventListener("click", () => {
    setLanguage(language() === "ja" ? "en" : "ja");
    keep("language", language());
  });
}
