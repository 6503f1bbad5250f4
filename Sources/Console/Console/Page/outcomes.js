// The table of outcomes: the newest on top, filtered, and limited, because a day's traffic does not fit on a screen.

import { el, setAttribute, setText, syncChildren } from "./dom.js";
import { clock, duration, ending, named, number, shortened, t } from "./text.js";

const KEPT = 5000;
const ROWS = 200;
/** The shortest time between two redraws: a table that changes faster is unreadable. */
const MILLISECONDS_BETWEEN_DRAWINGS = 250;
const CODES = ["ok", "invalid-request", "unauthorized", "rate-limited", "not-found", "timeout", "unreachable", "upstream-unavailable",
  "upstream-rejected", "bad-response", "circuit-open", "superseded", "expired", "internal"];
const PROVIDERS = ["hotpepper", "google-places", "google-places-legacy", "auto"];

export class OutcomeTable {
  /** The id of the newest outcome that arrived, after which a new connection continues. */
  lastId = 0;

  #kept = []; // Newest last.
  #frozen; // The rows that are shown while paused.
  #openId;
  #isWaiting = false;
  #actions;
  #body = document.getElementById("rows");
  #pause = document.getElementById("pause");
  #code = document.getElementById("filter-code");
  #provider = document.getElementById("filter-provider");
  #text = document.getElementById("filter-text");

  /** `actions`: open(outcome). */
  constructor(actions) {
    this.#actions = actions;
    this.#code.append(new Option(t("all.codes"), ""), new Option(t("all.failed"), "failed"), ...CODES.map((code) => new Option(code, code)));
    this.#provider.append(new Option(t("all.providers"), ""), ...PROVIDERS.map((name) => new Option(name, name)));

    const filters = document.getElementById("filters");
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("input", () => this.#draw());
    filters.addEventListener("reset", () => setTimeout(() => this.#draw()));
    this.#pause.addEventListener("click", () => this.#togglePause());
    this.#body.addEventListener("click", (event) => this.#choose(event.target.closest("tr")));
    this.#draw();
  }

  add({ outcomes }) {
    // The ids of a console are without gaps. After a gap, it has dropped outcomes, or was restarted and has read them again.
    if (outcomes.length > 0 && outcomes[0].id !== this.lastId + 1) this.#kept = [];

    this.#kept.push(...outcomes);
    this.#kept.splice(0, this.#kept.length - KEPT);
    this.lastId = this.#kept.at(-1)?.id ?? this.lastId;
    this.#drawSoon();
  }

  #togglePause() {
    this.#frozen = this.#frozen ? undefined : [...this.#kept];
    this.#draw();
  }

  #choose(row) {
    const outcome = row && [...this.#kept, ...(this.#frozen ?? [])].find(({ id }) => String(id) === row.dataset.key);
    if (!outcome) return;
    this.#openId = row.dataset.key;
    this.#actions.open(outcome);
    this.#draw();
  }

  /** Returns the focus to a row after its record was closed. */
  focusRow(id) {
    this.#openId = undefined;
    this.#draw();
    this.#body.querySelector(`[data-key="${id}"] button`)?.focus();
  }

  #drawSoon() {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.#draw();
    }, MILLISECONDS_BETWEEN_DRAWINGS);
  }

  #matching(outcomes) {
    const [code, provider, text] = [this.#code.value, this.#provider.value, this.#text.value.trim().toLowerCase()];
    const holds = (value) => typeof value === "string" && value.toLowerCase().includes(text);
    return outcomes.filter((outcome) =>
      (code === "" || outcome.code === code || (code === "failed" && outcome.code !== "ok"))
      && (provider === "" || outcome.provider === provider)
      && (text === "" || holds(outcome.sessionId) || holds(outcome.requestId) || holds(outcome.traceId)));
  }

  #draw() {
    const source = this.#frozen ?? this.#kept;
    const matching = this.#matching(source);
    // Outcomes from before the start of the console come partition by partition, and those of two workers may arrive out of order.
    const shown = matching.sort((a, b) => a.order - b.order || a.id - b.id).slice(-ROWS).reverse();
    syncChildren(this.#body, {
      items: shown, key: ({ id }) => String(id), make: (outcome) => this.#row(outcome),
      update: (row) => row.classList.toggle("is-open", row.dataset.key === this.#openId),
    });
    this.#hideEmptyColumns();

    const counts = { shown: number(matching.length), kept: number(source.length), rows: number(shown.length) };
    const extent = matching.length < source.length ? "outcomes.shown" : shown.length < source.length ? "outcomes.cut" : "outcomes.newest";
    setText(document.getElementById("outcomes-shown"), source.length > 0 ? t(extent, counts) : "");
    setText(document.getElementById("no-outcomes"), source.length === 0 ? t("outcomes.none") : shown.length === 0 ? t("outcomes.no-match", counts) : "");
    this.#drawPause();
  }

  #hideEmptyColumns() {
    const rows = [...this.#body.rows];
    for (const [column, heading] of [...this.#body.parentElement.tHead.rows[0].cells].entries()) {
      heading.hidden = rows.length > 0 && rows.every((row) => ["", "–"].includes(row.cells[column].textContent));
      for (const row of rows) row.cells[column].hidden = heading.hidden;
    }
  }

  #drawPause() {
    const last = this.#frozen?.at(-1)?.id ?? 0;
    const waiting = this.#frozen ? this.#kept.filter(({ id }) => id > last).length : 0;
    const [drawing, label] = this.#pause.children;
    setAttribute(this.#pause, "aria-pressed", String(Boolean(this.#frozen)));
    setAttribute(drawing.firstElementChild, "href", `assets/icons.svg#${this.#frozen ? "play" : "pause"}`);
    setText(label, this.#frozen ? t(waiting ? "resume.waiting" : "resume", { count: number(waiting) }) : t("pause"));
  }

  #row(outcome) {
    const { id, at, code, operation, provider, places, waitedMs, workedMs, sessionId, requestId, traceId } = outcome;
    // Ids often begin alike, so their ends are shown.
    const name = (value, length) => el("td", { class: "name" }, el("bdi", { title: shortened(value, 160) }, ending(value, length)));
    const label = t("record.open", { id: shortened(requestId ?? id, 60) });
    return el("tr", {},
      el("td", { class: "time" }, el("button", { type: "button", "aria-label": `${clock(at)} ${label}` }, clock(at, { milliseconds: true }))),
      el("td", {}, codeMark(code)),
      el("td", {}, named("operation", operation)),
      el("td", { class: "provider" }, el("bdi", { title: shortened(provider ?? "", 160) }, shortened(provider ?? "", 40))),
      el("td", { class: "figure" }, Number.isFinite(places) ? number(places) : ""),
      el("td", { class: "figure" }, duration(waitedMs)),
      el("td", { class: "figure" }, duration(workedMs)),
      name(sessionId), name(requestId), name(traceId, 9));
  }
}

/** Draws an outcome's code with its colour; the word has the same meaning as the colour. */
export function codeMark(code) {
  const kind = code === "ok" ? "good" : ["superseded", "expired", "invalid-request", "not-found"].includes(code) ? "mild" : "bad";
  return el("span", { class: `code ${kind}` }, shortened(code, 40));
}
