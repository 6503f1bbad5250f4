// Sends dead letters back: first the confirmation, then the outcomes.

import { getRedrive, redrive } from "./api.js";
import { el, setText } from "./dom.js";
import { clock, duration, hasText, number, shortened, t } from "./text.js";

const byId = (id) => document.getElementById(id);
const MILLISECONDS_BETWEEN_QUESTIONS = 700;
/** The number of retries after which the page gives up on a console that does not answer. */
const MOST_FAILURES = 60;
/** The console's maximum rate of letters per second: RedriveRun.defaultRate. */
const RATE = 20;
/** The default of worker.deadline: how long a request may take. */
const MILLISECONDS_TO_ANSWER = 5000;
const EXPIRY_MINUTES = [5, 60, 1440];

/** Returns why the console refused, in the page's language, followed by the console's own message. */
export function reasonOf({ code, message }) {
  const words = code === "broker-away" ? t("connection.broker-away") : hasText(`code.${code}`) ? t(`code.${code}`) : "";
  return [code === "invalid-request" || code === "changed" ? "" : words, message].filter(Boolean).join(": ") || words;
}

/** Returns how many dead letters there are, and when they were counted. */
export function summaryOf({ total, pending, isPartial, readAt }) {
  const name = total === 0 ? "dead.none" : isPartial ? "dead.summary.newest" : "dead.summary";
  return `${t(name, { total: number(total), pending: number(pending) })} ${t("dead.as-of", { time: clock(readAt) })}`;
}

/** Draws a fault with the faulty member in bold; most messages begin with its name. */
export function faultWords(member, message) {
  const text = shortened(message ?? "", 1000);
  if (!member) return [text];
  return text.startsWith(`${member} `) ? [el("strong", {}, member), text.slice(member.length)] : [el("strong", {}, `${shortened(member, 60)}: `), text];
}

/** Returns the present state of a letter. One that has gone back, or must not or cannot go back from here, can only be viewed. */
export function stateOf({ redriven, outcome, withoutContent, reason, fault }) {
  if (redriven) return "redriven";
  if (outcome) return "outcome";
  if (withoutContent) return "empty";
  if (reason === "crashed-workers") return "crashing";
  return fault ? "fault" : "request";
}

/** Whether a letter can go back from here. */
export const canGoBack = (letter) => ["fault", "request"].includes(stateOf(letter));

/** Whether a letter that went back already can be sent once more, as after an error. */
export const canGoAgain = (letter) => letter.redriven && canGoBack({ ...letter, redriven: false });

/** Whether a letter expires before a worker can answer it, if it is sent after so many others. */
export const expires = ({ expiry }, index = 0) => expiry !== undefined && Date.parse(expiry) <= Date.now() + MILLISECONDS_TO_ANSWER + index / RATE * 1000;

/** Returns the kind of a letter: its faulty member, and its producer. */
const kindOf = ({ reason, member, producer }) =>
  [member ? `${reason} (${member})` : reason, producer ? t("dead.producer", { producer }) : t("dead.producer.none")].join(", ");

export class Redrive {
  #dialog = byId("confirm");
  #note = byId("run");
  #actions;
  #letters = [];
  #confirm;
  #expiry = byId("confirm-expiry");
  #report;
  #problem;
  #round = 0;

  /**
   * `actions`: sent(letters), when the last letter was sent or failed; settled(), when the report is final; changed(), when the list is
   * out of date.
   */
  constructor(actions) {
    this.#actions = actions;
    byId("confirm-cancel").addEventListener("click", () => this.#dialog.close());
    byId("confirm-do").addEventListener("click", () => this.#send());
    byId("confirm-skip").addEventListener("change", () => this.#drawQuestion());
    byId("run-close").addEventListener("click", () => this.#forget());
    this.#expiry.append(...EXPIRY_MINUTES.map((minutes) => new Option(t("dead.expiry.after", { time: duration(minutes * 60_000) }), minutes)), new Option(t("dead.expiry.keep"), ""));
  }

  /** Asks for confirmation; nothing is sent before that. The cancel button has the focus. */
  ask(letters, confirm) {
    this.#letters = letters;
    this.#confirm = confirm;
    byId("confirm-skip").checked = this.#wouldComeBack().length < letters.length;
    this.#expiry.value = EXPIRY_MINUTES[0];
    setText(byId("confirm-problem"), "");
    this.#drawQuestion();
    this.#dialog.showModal();
    byId("confirm-cancel").focus();
  }

  #wouldComeBack() {
    return this.#letters.filter(({ fault, value }) => fault && value === undefined);
  }

  /** The letters that go back. */
  #chosen() {
    const left = byId("confirm-skip").checked ? new Set(this.#wouldComeBack()) : new Set();
    return this.#letters.filter((letter) => !left.has(letter));
  }

  #drawQuestion() {
    const [chosen, faulty] = [this.#chosen(), this.#wouldComeBack()];
    const kinds = new Map();
    for (const letter of chosen) kinds.set(kindOf(letter), (kinds.get(kindOf(letter)) ?? 0) + 1);
    const sorted = [...kinds].sort(([, a], [, b]) => b - a);

    setText(byId("confirm-title"), t(chosen.length === 1 ? "dead.confirm.one" : "dead.confirm", { count: number(chosen.length) }));
    byId("confirm-kinds").replaceChildren(...sorted.slice(0, 8).map(([kind, count]) => el("li", { dir: "auto" }, `${number(count)} × ${kind}`)));
    const again = chosen.some(({ redriven }) => redriven) ? `${t("dead.confirm.again")} ` : "";
    setText(byId("confirm-text"), again + t("dead.confirm.text", { rate: number(RATE), time: duration(Math.max(1000, chosen.length / RATE * 1000)) }));
    const expiring = chosen.filter(expires).length;
    byId("confirm-expiring").hidden = expiring === 0;
    setText(byId("confirm-expiring-text"), t("dead.confirm.expiring", { count: number(expiring), all: number(chosen.length) }));
    byId("confirm-faulty").hidden = faulty.length === 0;
    setText(byId("confirm-faulty-text"), t("dead.confirm.faulty", { count: number(faulty.length), all: number(this.#letters.length) }));
    byId("confirm-do").disabled = chosen.length === 0;
  }

  async #send() {
    const chosen = this.#chosen();
    const letters = chosen.map(({ letter, value }) => ({ ...letter, ...(value !== undefined && { value }) }));
    const expiryMs = byId("confirm-expiring").hidden ? 0 : Number(this.#expiry.value) * 60_000;
    const again = chosen.some(({ redriven }) => redriven);
    const button = byId("confirm-do");
    // The console reads the whole topic first, so that nothing goes back a second time.
    button.disabled = true;
    setText(button, t("dead.loading"));
    try {
      this.#report = await redrive(this.#confirm, letters, { ...(expiryMs > 0 && { expiryMs }), ...(again && { again }) });
      this.#problem = undefined;
      this.#dialog.close();
      this.#drawReport();
      this.#follow(letters);
    } catch (error) {
      setText(byId("confirm-problem"), t("dead.failed", { reason: reasonOf(error) }));
      button.disabled = false;
      if (error.code === "changed") this.#actions.changed();
    } finally {
      setText(button, t("dead.confirm.do"));
    }
  }

  /** Reads the report until it is final. */
  async #follow(letters) {
    const round = ++this.#round;
    let failures = 0;
    while (round === this.#round && this.#report && (this.#report.isSending || this.#report.isWaiting)) {
      await new Promise((resolve) => setTimeout(resolve, MILLISECONDS_BETWEEN_QUESTIONS));
      if (round !== this.#round) return;

      const before = this.#report;
      try {
        const report = await getRedrive(before.id);
        if (round !== this.#round) return;
        [this.#report, this.#problem, failures] = [report, undefined, 0];
      } catch (error) {
        this.#problem = error;
        failures += 1;
        if (error.code === "forgotten" || failures >= MOST_FAILURES) this.#report = { ...before, isSending: false, isWaiting: false };
      }
      this.#drawReport();
      if (before.isSending && !this.#report.isSending) this.#actions.sent(letters);
    }
    this.#actions.settled();
  }

  #forget() {
    this.#round += 1;
    this.#report = undefined;
    this.#drawReport();
  }

  #drawReport() {
    this.#note.hidden = !this.#report;
    if (this.#report) setText(byId("run-text"), lines(this.#report, this.#problem).join(" "));
  }
}

function lines({ chosen, wentBefore, deleted, sent, isSending, problem, completed, failed, cameBack, open, isWaiting, waitMs, outcomesProblem }, lost) {
  // Letters that came back failed with this code, and are not counted twice.
  const others = failed.map((entry) => (entry.code === "invalid-request" ? { ...entry, count: entry.count - cameBack } : entry)).filter((entry) => entry.count > 0);
  const codes = others.map((entry) => `${entry.code} ${number(entry.count)}`).join(", ");
  const parts = [
    (completed > 0 || !isWaiting && sent > 0 && open < sent) && t("run.completed", { count: number(completed) }),
    cameBack > 0 && t("run.back", { count: number(cameBack) }),
    others.length > 0 && t("run.failed", { count: number(others.reduce((sum, entry) => sum + entry.count, 0)), codes }),
    open > 0 && isWaiting && t("run.open", { count: number(open) }),
    open > 0 && !isWaiting && t("run.open.over", { count: number(open), wait: duration(waitMs) }),
  ].filter(Boolean);
  return [
    isSending ? t("run.sending", { sent: number(sent), chosen: number(chosen) }) : t("run.sent", { sent: number(sent) }),
    wentBefore > 0 && t("run.before", { count: number(wentBefore) }), deleted > 0 && t("run.deleted", { count: number(deleted) }),
    problem && t("run.problem", { reason: problem }),
    parts.length > 0 && t("run.outcomes", { outcomes: parts.join(t("run.and")) }),
    outcomesProblem && t("run.unknown", { reason: outcomesProblem }),
    lost && t(isSending || isWaiting ? "run.lost" : "run.lost.over", { reason: reasonOf(lost) }),
  ].filter(Boolean);
}
