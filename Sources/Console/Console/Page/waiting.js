// What is to be said of requests without an answer: what is in the way, and what becomes of them.

import { setText } from "./dom.js";
import { age, clock, number, t } from "./text.js";

/** A request that takes so long is worth a word; one that something known is in the way of, sooner. */
const LONG = 4000;
const LONG_WITH_FAULT = 1500;
const BETWEEN_LOOKS = 500;
/** How old a report must be at least, after a refusal, to tell that its cause is gone: a reading may have begun before it. */
const READING = 2000;
/** The refusals whose cause is told of by `Health`. */
const FAULTS = new Set(["offline", "console-away", "broker-away"]);

export class Waiting {
  #health;
  #onChange;
  #pending = [];
  #refused;
  #key = "";

  /** `onChange()` is called when something else is to be said. */
  constructor(health, onChange) {
    this.#health = health;
    this.#onChange = onChange;
    setInterval(() => this.look(), BETWEEN_LOOKS);
  }

  /** Takes in a state as it arrives: the ages in it are those of now. */
  take({ inFlight }) {
    const now = performance.now();
    this.#pending = inFlight.map(({ requestId, operation, ageMs, expiresInMs }) => ({
      requestId, operation, sentAt: now - (ageMs ?? 0), endsAt: now + (expiresInMs ?? Infinity), until: Date.now() + (expiresInMs ?? NaN),
    }));
    this.look();
  }

  /** Takes in why a request was not sent, or nothing once one was. */
  refuse(error) {
    this.#refused = error;
  }

  /** Whether a request's time is over without an answer. */
  isGivenUp(requestId) {
    return this.#pending.some((request) => request.requestId === requestId && isOver(request));
  }

  /** Whether what was asked for a place, its details or its picture, is given up. */
  get isPlaceGivenUp() {
    const asked = this.#pending.filter(({ operation }) => operation !== "search");
    return asked.length > 0 && asked.every(isOver);
  }

  /** What is to be said of the requests under way, as the banner takes it; undefined when all goes as it should. */
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

  /** How many requests wait, and how long they take, while workers are there. */
  #queue({ backlog }) {
    if (!(backlog?.waiting > 1)) return undefined;
    const count = number(backlog.waiting);
    return Number.isFinite(backlog.workOffMs) ? t("waiting.queue", { count, wait: age(Math.max(1000, backlog.workOffMs)) }) : t("waiting.queue.open", { count });
  }

  /** What is to be said of a request that was not sent; undefined once its cause is gone. */
  get refusal() {
    const refused = this.#refused;
    if (!refused || !FAULTS.has(refused.code)) return refused;
    const { fault } = this.#health;
    return { ...refused, code: FAULTS.has(fault) ? fault : refused.code, advice: t("waiting.refused"), remedy: "retry" };
  }

  /** Looks whether time has changed what is to be said. */
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
