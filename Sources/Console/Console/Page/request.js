// The page of a request: its address contains an id, and the console reads the request's history from the topics.

import { getLives } from "./api.js";
import { el, setText } from "./dom.js";
import { lifeCard } from "./life.js";
import { lifeLink } from "./link.js";
import { codeMark } from "./outcomes.js";
import { follow } from "./stream.js";
import { clock, ending, hasText, moment, named, number, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(id);
const [field, reading, note, lives, recent] = ["life-id", "life-reading", "life-note", "lives", "recent"].map(byId);
const MOST_RECENT = 20;
/** The newest outcomes; undefined until the list is shown for the first time. */
let outcomes;

/** A request in flight is looked up repeatedly, at first often and then rarely, because the console reads topics each time. */
const [SOONEST, RAREST, MOST_LOOKS] = [1500, 15_000, 60];

/** The state of the page: `id` is looked up, and there is an answer, a problem, or neither while the topics are read. */
let shown = { id: "" };

const idOfAddress = () => new URLSearchParams(location.search).get("id")?.trim() ?? "";

byId("look-up").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = field.value.trim();
  if (id !== idOfAddress()) history.pushState(null, "", id ? `request?id=${encodeURIComponent(id)}` : "request");
  lookUp(id);
});
addEventListener("popstate", () => lookUp(idOfAddress()));
lookUp(idOfAddress());

async function lookUp(id) {
  const lookup = shown = { id };
  field.value = id;
  draw();
  if (!id) {
    followOutcomes();
    return field.focus();
  }

  for (let looks = 0; shown === lookup; looks += 1) {
    const before = JSON.stringify(lookup.answer?.requests);
    try {
      [lookup.answer, lookup.problem] = [await getLives(id), undefined];
    } catch (problem) {
      // The known answer stays if a later look-up fails.
      if (!lookup.answer) lookup.problem = problem;
    }
    if (shown !== lookup) return;
    if (looks === 0 || JSON.stringify(lookup.answer?.requests) !== before) draw();
    if (lookup.problem || looks === MOST_LOOKS || !lookup.answer.requests.some(isUnderWay)) return;
    await pause(Math.min(RAREST, SOONEST * 1.3 ** looks));
  }
}

const isUnderWay = ({ state }) => state === "waiting";

/** Waits, and also while the page is hidden. */
const pause = (milliseconds) => new Promise((resolve) => {
  const go = () => {
    if (document.hidden) return document.addEventListener("visibilitychange", go, { once: true });
    resolve();
  };
  setTimeout(go, milliseconds);
});

function draw() {
  const { id, answer, problem } = shown;
  const isReading = id !== "" && !answer && !problem;
  reading.firstElementChild.hidden = !isReading;
  setText(reading.lastElementChild, isReading ? t("life.reading") : told(answer));
  document.title = `${id ? `${shortened(id, 40)} · ` : ""}${t("page.request")}`;

  const notes = problem ? [el("p", {}, reason(problem))] : answer ? remarks(answer) : [];
  note.hidden = notes.length === 0;
  note.replaceChildren(...notes);
  lives.replaceChildren(...(answer?.requests ?? []).map(lifeCard));
  drawRecent();
}

function followOutcomes() {
  if (outcomes) return;
  outcomes = [];
  follow(() => "api/traffic/events", {
    outcomes: ({ outcomes: added }) => {
      // A new connection sends outcomes again, and a restarted console under new ids.
      const known = new Map([...outcomes, ...added].map((outcome) => [`${outcome.topic}-${outcome.partition}-${outcome.offset}`, outcome]));
      outcomes = [...known.values()].sort((a, b) => b.order - a.order || b.id - a.id).slice(0, MOST_RECENT);
      // A link must not move while the pointer or the focus is on it.
      if (!recent.matches(":hover, :focus-within")) drawRecent();
    },
  }, () => {});
}

function drawRecent() {
  recent.hidden = shown.id !== "" || !outcomes?.length;
  byId("recent-rows").replaceChildren(...(outcomes ?? []).map(({ at, code, operation, provider, requestId, source }) => el("li", {},
    el("span", { class: "time" }, clock(at)), codeMark(code), lifeLink({ source, requestId }, ending(requestId ?? "–")),
    el("span", { class: "faint" }, [named("operation", operation), provider && named("provider", provider)].filter(Boolean).join(" · ")))));
}

/** The announcement for screen readers when the answer has arrived. */
function told(answer) {
  const count = answer?.requests.length ?? 0;
  return count === 0 ? "" : count === 1 ? t("life.found.one") : t("life.found", { count: number(count) });
}

function reason({ code, message }) {
  return hasText(`life.problem.${code}`) ? t(`life.problem.${code}`) : message || t("code.console-failed");
}

/** Returns the extent read of each topic if nothing was found; otherwise only what could not be read. */
function remarks({ requests, readings }) {
  const isFound = requests.length > 0;
  const told = isFound ? readings.filter(({ isCut, problem }) => isCut || problem) : readings;
  if (told.length === 0) return [];
  return [
    el("p", {}, t(isFound ? "life.not-all" : "life.nothing")),
    el("ul", {}, ...told.map((part) => el("li", {}, extent(part)))),
    isFound ? "" : el("p", {}, t("life.nothing.advice")),
  ];
}

function extent({ topic, since, newest, records, isCut, problem, heldFrom, heldTo }) {
  const values = { topic: shortened(topic, 249), count: number(records) };
  if (problem) return t("life.part.problem", { ...values, reason: problem });

  const part = since ? t("life.part.since", { ...values, time: moment(since) })
    : newest ? t("life.part.newest", { ...values, newest: number(newest) })
      : heldTo > heldFrom ? t("life.part.held", { ...values, first: number(heldFrom), last: number(heldTo - 1) })
        : t("life.part.one", values);
  return isCut ? `${part} ${t("life.part.cut")}` : part;
}
