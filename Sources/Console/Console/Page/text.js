// The page's texts in the chosen language, and numbers in its format.

import { english } from "./text-en.js";
import { japanese } from "./text-ja.js";

/** The language of the page, which does not change while it is open: `early.js` has set it. */
export const language = document.documentElement.lang;
const texts = language === "ja" ? japanese : english;

/** Returns the text of a name; `{member}` in it is replaced by the value of that name. A name without a text is returned unchanged. */
export function t(name, values = {}) {
  const text = texts[name] ?? english[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, member) => values[member] ?? whole);
}

/** Whether there is a text of this name, for codes that a newer worker may send. */
export const hasText = (name) => name in english;

/** Returns the text of a code or a name; its beginning if there is none, as a newer worker may send others. */
export const named = (kind, name, length = 40) => (hasText(`${kind}.${name}`) ? t(`${kind}.${name}`) : shortened(name, length));

/** Puts the texts in their places: `data-text` is an element's content, `data-label` its label for screen readers. */
function translate() {
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of document.querySelectorAll("[data-placeholder]")) element.placeholder = t(element.dataset.placeholder);
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
    if (element.matches("button, a")) element.title = t(element.dataset.label);
  }
}
translate();

// The switch in the header. The page's state is in its address and on the server, so the page is simply loaded again.
document.getElementById("language")?.addEventListener("click", () => withStorage(() => {
  localStorage.setItem("language", language === "ja" ? "en" : "ja");
  location.reload();
}));

/** Returns the result of `use`, or nothing where the browser refuses storage. */
export function withStorage(use) {
  try {
    return use();
  } catch {} // as if nothing were stored
}

export const number = (value, digits = 0) => value.toLocaleString(language, { maximumFractionDigits: digits, minimumFractionDigits: digits });

/** Formats metres: 75 m, 1.2 km. */
export function distance(meters) {
  if (!Number.isFinite(meters)) return undefined;
  return meters < 1000 ? `${number(Math.round(meters))} m` : `${number(meters / 1000, meters < 10_000 && meters % 1000 ? 1 : 0)} km`;
}

/** The units of time, with their milliseconds. */
const UNITS = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"], [1, "ms"]];

/** Formats milliseconds in one unit, with three digits up to a minute and then two: 87 ms, 1.43 s, 3.3 min. */
export function duration(milliseconds) {
  if (!Number.isFinite(milliseconds)) return "–";
  const [size, unit] = UNITS.find(([size]) => milliseconds >= size) ?? UNITS.at(-1);
  const digits = size < 60_000 ? 3 : 2;
  return t(`unit.${unit}`, { count: (milliseconds / size).toLocaleString(language, { maximumSignificantDigits: digits }) });
}

/** Formats a time until an event in whole days, hours or minutes: 12 days, 1 hour. */
export function ahead(milliseconds) {
  const [size, unit] = [[86_400_000, "day"], [3_600_000, "hour"]].find(([size]) => milliseconds >= size) ?? [60_000, "minute"];
  return Math.round(milliseconds / size).toLocaleString(language, { style: "unit", unit, unitDisplay: "long" });
}

/** Formats the time of day, to the second or the millisecond. */
export function clock(time, { milliseconds = false } = {}) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const text = date.toLocaleTimeString(language, { hourCycle: "h23" });
  return milliseconds ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}

/** Formats a day and the time of day, to the second or the millisecond; a dash if there is none. */
export function moment(time, precision) {
  const text = clock(time, precision);
  return text === "" ? "–" : `${new Date(time).toLocaleDateString(language)} ${text}`;
}

/** Returns the end of a text, for ids: many begin with the same word. */
export function ending(text, length = 64) {
  const characters = [...String(text ?? "").slice(-length * 2)];
  return characters.length > length ? `…${characters.slice(1 - length).join("")}` : characters.join("");
}

/** Returns the start of a text, for labels: a sender may choose a name of any length. */
export function shortened(text, length = 120) {
  const characters = [...String(text ?? "").slice(0, length * 2)];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : characters.join("");
}
