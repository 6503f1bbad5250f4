// Messages about requests without an answer: what blocks them, and what will happen to them.

import { setText } from "./dom.js";
import { clock, duration, number, t } from "./text.js";

/** The waiting time after which a message appears, and the shorter one for requests with a known fault. */
const LONG = 4000;
const LONG_WITH_FAULT = 1500;
const BETWEEN_LOOKS = 500;
/** A report clears a refusal only if it is this much newer. Otherwise its reading may have begun before the refusal. */
const READING = 2000;
/** The refusals whose cause `Health` reports. */
const FAULTS = new Set(["offline", "console-away", "broker-away"]);

export class Waiting {
  #health;
  #onChange;
  #pending = [];
  #refused;
  #key = "";

  /** `onChange()` is called when the message changes. */
  constructor(health, onChange) {
    this.#health = health;
    this.#onChange = onChange;
    setInterval(() => this.look(), BETWEEN_LOOKS);
  }

  /** Takes a state when it arrives: its ages are relative to now. */
  take({ inFlight }) {
    const now = performance.now();
    this.#pending = inFlight.map(({ requestId, operation, ageMs, expiresInMs }) => ({
      requestId, operation, sentAt: now - (ageMs ?? 0), endsAt: now + (expiresInMs ?? Infinity), until: Date.now() + (expiresInMs ?? NaN),
    }));
    this.look();
  }

  /** Takes the reason why a request was not sent, or nothing after one was sent. */
  refuse(error) {
    this.#refused = error;
  }

  /** Whether a request has expired without an answer. */
  isGivenUp(requestId) {
    return this.#pending.some((request) => request.requestId === requestId && isOver(request));
  }

  /** Whether all requests for a place's details or picture have expired. */
  get isPlaceGivenUp() {
    const asked = this.#pending.filter(({ operation }) => operation !== "search");
    return asked.length > 0 && asked.every(isOver);
  }

  /** The message about the requests in flight, for the banner; undefined if there is no problem. */
  get problem() {
    const { fault, report } = this.#health;
    const newest = this.#pending.at(-1);
    if (newest && isOver(newest)) {
      const advice = t("waiting.given-up", { time: clock(newest.until) });
      return { ...newest, code: fault ?? "given-up", advice, message: fault && report.problem, remedy: "retry", at: "given-up" };
    }

    const oldest = this.#pending.find((request) => !isOver(request));
    const waited = oldest ? performance.now() - oldest.sentAt : 0;
    if (!oldest || waited < (fault ? LONG_WITH_FAULT : LONG)) return undefined;
    const code = fault ?? "no-answer";
    const isUnseen = code === "offline" || code === "console-away";
    const becomes = t(`waiting.${isUnseen ? "unseen" : "sent"}${Number.isFinite(oldest.endsAt) ? "" : ".open"}`, { time: clock(oldest.until) });
    const advice = [code === "no-answer" && this.#queue(report), becomes].filter(Boolean).join(" ");
    return { ...oldest, code, advice, message: fault && report.problem, remedy: "none" };
  }

  /** Returns how many requests wait, and the time that they need, while there are workers. */
  #queue({ backlog }) {
    if (!(backlog?.waiting > 1)) return undefined;
    const count = number(backlog.waiting);
    return Number.isFinite(backlog.workOffMs) ? t("waiting.queue", { count, wait: duration(Math.max(1000, backlog.workOffMs)) }) : t("waiting.queue.open", { count });
  }

  /** The message about a request that was not sent; undefined once its cause is gone. */
  get refusal() {
    const refused = this.#refused;
    if (!refused || !FAULTS.has(refused.code)) return refused;
    const { fault } = this.#health;
    return { ...refused, code: FAULTS.has(fault) ? fault : refused.code, advice: t("waiting.refused"), remedy: "retry" };
  }

  /** Checks whether the message changes because of the time. */
  look() {
    const { fault, reportedAt } = this.#health;
    const isGone = FAULTS.has(this.#refused?.code) && !FAULTS.has(fault) && reportedAt > this.#refused.at + READING;
    if (isGone) {
      this.#refused = undefined;
      setText(document.getElementById("told"), t("waiting.back"));
    }

    const { problem } = this;
    const key = [fault, this.refusal?.code, problem?.code, problem?.requestId, problem?.at].join(" ");
    if (key === this.#key) return;
    this.#key = key;
    this.#onChange();
  }
}

const isOver = ({ endsAt }) => performance.now() >= endsAt;
