// The requests whose outcomes have not arrived. This module knows no Kafka client.

import { OutcomeTimeout, Superseded } from "./errors.js";
import type { Outcome, Position } from "./records.js";

/** Outcomes with the id of one request that are kept until the delivery report says where that request stands. */
const MOST_EARLY = 100;

/** A request whose outcome has not arrived. */
export interface Waiting {
  readonly requestId: string;
  readonly outcome: Promise<Outcome>;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: ReturnType<typeof setTimeout>;
  /** Whether this client writes the record. Only then does it know the position that the outcome must name. */
  isOwn: boolean;
  /** Where the record stands. Absent until its delivery report arrives. */
  position?: Position;
  /** Outcomes with this id that arrived before the delivery report. */
  early: Outcome[];
}

/** Settles the promise of each request once. */
export class WaitingTable {
  readonly #waiting = new Map<string, Waiting>();

  /** Adds a request. @throws RangeError when its id is under way already. */
  register(requestId: string, withinMs: number, isOwn: boolean): Waiting {
    if (this.#waiting.has(requestId)) throw new RangeError(`the request ${requestId} is under way already`);

    let resolve!: Waiting["resolve"], reject!: Waiting["reject"];
    const outcome = new Promise<Outcome>((...functions) => ([resolve, reject] = functions));
    const expired = new OutcomeTimeout(`no outcome of the request ${requestId} within ${withinMs} ms`);
    const timer = setTimeout(() => this.reject(waiting, expired), withinMs);
    const waiting: Waiting = { requestId, outcome, resolve, reject, timer, isOwn, early: [] };
    this.#waiting.set(requestId, waiting);
    return waiting;
  }

  has(waiting: Waiting): boolean {
    return this.#waiting.get(waiting.requestId) === waiting;
  }

  /** Takes over from a delivery report where a request stands. Undefined: the brokers reported no offset. */
  locate(waiting: Waiting, position: Position | undefined): void {
    waiting.isOwn = position !== undefined;
    if (position) waiting.position = position;
    for (const outcome of waiting.early.splice(0)) this.deliver(outcome);
  }

  /**
   * Settles the promise of the request that an outcome names by its id and its position.
   *
   * Second copies of an outcome find no promise any more. Another program's request may have the same id, but it stands
   * elsewhere.
   */
  deliver(outcome: Outcome): void {
    const waiting = this.#waiting.get(outcome.event.requestId);
    if (!waiting) return;
    if (waiting.isOwn && !waiting.position) {
      waiting.early.push(outcome);
      if (waiting.early.length > MOST_EARLY) waiting.early.shift();
    } else if (!waiting.isOwn || isSame(waiting.position!, outcome.requestPosition)) {
      this.#settle(waiting, outcome);
    }
  }

  reject(waiting: Waiting, error: unknown): void {
    if (this.#remove(waiting)) waiting.reject(error);
  }

  rejectAll(error: unknown): void {
    for (const waiting of [...this.#waiting.values()]) this.reject(waiting, error);
  }

  #settle(waiting: Waiting, outcome: Outcome): void {
    if (!this.#remove(waiting)) return;
    if (outcome.type === "failed" && outcome.event.error.code === "superseded") {
      waiting.reject(new Superseded(outcome.event.error.message));
    } else {
      waiting.resolve(outcome);
    }
  }

  /** Returns whether the request had not ended. */
  #remove(waiting: Waiting): boolean {
    if (!this.has(waiting)) return false;
    clearTimeout(waiting.timer);
    return this.#waiting.delete(waiting.requestId);
  }
}

function isSame(one: Position, other: Position): boolean {
  return one.topic === other.topic && one.partition === other.partition && one.offset === other.offset;
}
