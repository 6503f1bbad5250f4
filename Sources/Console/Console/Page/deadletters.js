// The page of dead letters. They are grouped by fault and producer, filtered, viewed, corrected, and sent back after a
// confirmation.

import { getDeadLetters } from "./api.js";
import { el, fill, setText, syncChildren } from "./dom.js";
import { LetterView } from "./letter.js";
import { lifeLink } from "./link.js";
import { canGoBack, faultWords, reasonOf, Redrive, stateOf, summaryOf } from "./redrive.js";
import { clock, moment, number, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(id);
const MOST_LETTERS = 500;
const MILLISECONDS_AFTER_A_KEY = 350;
const HOURS = [1, 24, 168];

/** The colours of the marks of letters, by their state. */
const COLOURS = { redriven: "good", outcome: "mild", empty: "mild", crashing: "bad", fault: "bad", request: "good" };

const nameOf = ({ partition, offset }) => `${partition}/${offset}`;
const nameOfLetter = ({ letter }) => nameOf(letter);
const keyOfGroup = ({ reason, member = "", producer = "" }) => JSON.stringify([reason, member, producer]);
const isSameDay = (a, b) => new Date(a).toDateString() === new Date(b).toDateString();
const positionIn = (text) => {
  const [, partition, offset] = /^#?(\d{1,9})\/(\d{1,15})$/.exec(text) ?? [];
  return partition === undefined ? undefined : { partition: Number(partition), offset: Number(offset) };
};

class DeadLetters {
  #rows = byId("dead-rows");
  #since = byId("dead-since");
  #text = byId("dead-text");
  #chosen = new Set();
  #answer;
  #problem;
  #isReading = false;
  #round = 0;
  #timer;
  /** The chosen group as a filter. An empty value selects letters without that member. */
  #group = {};

  #letter = new LetterView({
    closed: (position) => {
      history.replaceState(null, "", location.pathname);
      this.#draw();
      if (position) this.#rows.querySelector(`[data-key="${nameOf(position)}"] .time button`)?.focus();
    },
    send: (letter, value) => this.#ask([{ ...letter, value }]),
  });

  #redrive = new Redrive({ sent: (letters) => this.#sent(letters), settled: () => this.#listAll(), changed: () => this.#list() });

  constructor() {
    const filters = byId("dead-filters");
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("change", () => this.#list());
    filters.addEventListener("reset", () => setTimeout(() => {
      this.#group = {};
      this.#list();
    }));
    this.#text.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#list(), MILLISECONDS_AFTER_A_KEY);
    });
    this.#since.append(new Option(t("dead.all-times"), ""), ...HOURS.map((hours) => new Option(t(`dead.since.${hours}`), hours)));
    byId("dead-list").addEventListener("click", () => this.#listAll());
    byId("dead-all").addEventListener("change", (event) => this.#chooseAll(event.target.checked));
    byId("dead-redrive").addEventListener("click", () => this.#ask(this.#selectable().filter((letter) => this.#chosen.has(nameOfLetter(letter)))));
    addEventListener("hashchange", () => this.#openHash());
    this.#draw();
    this.#list();
    this.#openHash();
  }

  #openHash() {
    const position = positionIn(location.hash);
    if (position && (!this.#letter.position || nameOf(this.#letter.position) !== nameOf(position))) this.#letter.open(position);
  }

  #ask(letters) {
    this.#redrive.ask(letters, this.#answer?.confirm ?? "");
  }

  #sent(letters) {
    this.#letter.sent(letters);
    this.#listAll();
  }

  #listAll() {
    this.#letter.reload();
    return this.#list();
  }

  #query() {
    const since = this.#since.value && new Date(Date.now() - Number(this.#since.value) * 3_600_000).toISOString();
    return { limit: MOST_LETTERS, ...this.#group, ...(since && { since }), ...(this.#text.value.trim() && { text: this.#text.value.trim() }) };
  }

  /** Reads the topic. Letters stay selected while they are shown and can go back. */
  async #list() {
    clearTimeout(this.#timer);
    const round = ++this.#round;
    this.#isReading = true;
    this.#drawState();
    try {
      const answer = await getDeadLetters(this.#query());
      if (round !== this.#round) return;
      [this.#answer, this.#problem] = [answer, undefined];
      this.#chosen = new Set(this.#selectable().map(nameOfLetter).filter((name) => this.#chosen.has(name)));
    } catch (error) {
      if (round !== this.#round) return;
      this.#problem = error;
    }
    this.#isReading = false;
    this.#draw();
  }

  #draw() {
    const { letters = [], groups = [] } = this.#answer ?? {};
    syncChildren(byId("dead-groups"), {
      items: groups, key: keyOfGroup, make: () => el("li", {}),
      update: (item, group) => fill(item, [group, this.#isChosen(group)], () => [this.#groupButton(group)]),
    });
    syncChildren(this.#rows, {
      items: letters, key: nameOfLetter, make: (letter) => this.#row(letter),
      update: (row, letter) => {
        row.letter = letter;
        row.classList.toggle("is-done", letter.redriven);
        fill(row, letter, () => this.#cells(letter));
        row.querySelector("input").checked = this.#chosen.has(nameOfLetter(letter));
      },
    });
    this.#markOpen();
    this.#drawState();
    this.#drawChoice();
  }

  /** Shows the numbers, their time, and what prevents newer ones. */
  #drawState() {
    const { total = 0, matching = 0, letters = [], readAt } = this.#answer ?? {};
    const note = byId("dead-note");
    note.hidden = !this.#problem;
    if (this.#problem) setText(note, [t("dead.failed", { reason: reasonOf(this.#problem) }), this.#answer && t("dead.old", { time: clock(readAt) })].filter(Boolean).join(" "));
    document.querySelector(".dead-page").classList.toggle("is-old", Boolean(this.#problem));
    byId("dead-list").disabled = this.#isReading;

    setText(byId("dead-summary"), this.#isReading ? t("dead.loading") : this.#answer ? summaryOf(this.#answer) : "");
    setText(byId("dead-shown"), letters.length > 0 ? t("dead.shown", { shown: number(letters.length), matching: number(matching) }) : "");
    setText(byId("dead-none"), !this.#answer || letters.length > 0 ? "" : total === 0 ? t("dead.none") : t("dead.no-match", { total: number(total) }));
  }

  #isChosen(group) {
    return keyOfGroup(group) === keyOfGroup(this.#group);
  }

  #groupButton(group) {
    const { reason, member, producer, letters, pending, faulty, oldest, newest } = group;
    const isChosen = this.#isChosen(group);
    const choose = (event) => {
      const item = event.currentTarget.parentElement;
      this.#group = isChosen ? {} : { reason, member: member ?? "", producer: producer ?? "" };
      this.#draw();
      item.firstElementChild.focus();
      this.#list();
    };
    return el("button", { type: "button", class: "group", "aria-pressed": String(isChosen), onclick: choose },
      el("span", { class: "group-count" }, number(letters)),
      el("span", { class: "group-kind", dir: "auto" }, shortened(reason, 60), member && el("span", { class: "faint" }, ` · ${shortened(member, 60)}`)),
      el("span", { class: "group-producer", dir: "auto" }, producer ? t("dead.producer", { producer: shortened(producer, 80) }) : t("dead.producer.none")),
      el("span", { class: "faint" }, t(reason === "crashed-workers" ? "dead.group.crashing" : "dead.group.state", { pending: number(pending), faulty: number(faulty) })),
      oldest && el("span", { class: "faint" }, oldest === newest ? moment(oldest) : t("dead.group.time", { oldest: moment(oldest), newest: isSameDay(oldest, newest) ? clock(newest) : moment(newest) })));
  }

  #row(letter) {
    const row = el("tr", {});
    row.letter = letter;
    row.addEventListener("click", (event) => !event.target.closest("input, button, td:first-child") && getSelection().isCollapsed && this.#open(row.letter));
    return row;
  }

  #cells(letter) {
    const { letter: position, time, reason, message, member, producer, topic, partition, offset, bytes, head } = letter;
    const box = el("input", { type: "checkbox", "aria-label": t("dead.select", position), disabled: !canGoBack(letter) });
    box.addEventListener("change", () => {
      if (box.checked) this.#chosen.add(nameOf(position));
      else this.#chosen.delete(nameOf(position));
      this.#drawChoice();
    });
    const state = stateOf(letter);
    return [
      el("td", {}, box),
      el("td", { class: "time" }, el("button", { type: "button", "aria-label": `${moment(time)} ${t("dead.open-letter", position)}`, onclick: () => this.#open(letter) }, moment(time))),
      el("td", { class: "reason", dir: "auto" }, el("strong", {}, shortened(reason ?? "", 60)), " ", el("span", { class: `code ${COLOURS[state]}` }, t(`dead.state.${state}`)),
        el("p", { lang: "en", dir: "auto" }, ...faultWords(member, shortened(message ?? "", 300))),
        producer && el("p", { class: "faint", dir: "auto" }, t("dead.producer", { producer: shortened(producer, 120) }))),
      el("td", {}, topic === undefined ? "–" : lifeLink({ source: { topic, partition, offset } }, `${shortened(topic, 60)} ${partition}/${offset}`)),
      el("td", { class: "value", dir: "auto" }, state === "empty" ? el("span", { class: "faint" }, t("dead.state.empty")) : bytes > 0 ? shortened(head, 120) : ""),
    ];
  }

  #open(letter) {
    history.replaceState(null, "", `#${nameOfLetter(letter)}`);
    this.#letter.open(letter.letter);
    this.#markOpen();
  }

  #markOpen() {
    const opened = this.#letter.position && nameOf(this.#letter.position);
    for (const row of this.#rows.children) row.classList.toggle("is-open", row.dataset.key === opened);
  }

  #selectable() {
    return (this.#answer?.letters ?? []).filter(canGoBack);
  }

  #chooseAll(isChosen) {
    this.#chosen = new Set(isChosen ? this.#selectable().map(nameOfLetter) : []);
    this.#draw();
  }

  #drawChoice() {
    const [count, most] = [this.#chosen.size, this.#selectable().length];
    const button = byId("dead-redrive");
    setText(button, count > 0 ? t("dead.redrive.count", { count: number(count) }) : t("dead.redrive"));
    button.disabled = count === 0 || Boolean(this.#problem);
    const all = byId("dead-all");
    all.disabled = most === 0;
    all.checked = count > 0 && count === most;
    all.indeterminate = count > 0 && count < most;
  }
}

new DeadLetters();
