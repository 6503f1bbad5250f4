// Requests to records, and records to outcomes. This module knows no Kafka client, so it serves any of them.

import { randomUUID } from "node:crypto";
import { COMPLETED, type ErrorEvent, FAILED, REQUESTED, type Request, type Result } from "./events.js";
import type { Headers, OutgoingMessage } from "./kafka.js";

/** A request as a record of the requests topic. Write it to the partition that `partitionFor` says. */
export interface RequestRecord extends OutgoingMessage {
  requestId: string;
}

export interface EncodeOptions {
  /** The URI of your program, for `ce_source`. */
  source: string;
  /** Until when the outcome is wanted. A worker that reads the request later asks no provider. */
  expires?: Date;
  /** Further headers, such as `traceparent`. */
  headers?: Record<string, string>;
}

/**
 * Makes a CloudEvent in binary mode of a request.
 *
 * The key is the `sessionId`, which keeps the requests of a session in order and lets a newer search supersede an older
 * one. The key of a request without a session is its `requestId`, a random one where it names none.
 */
export function encodeRequest(request: Request, { source, expires, headers }: EncodeOptions): RequestRecord {
  const requestId = request.requestId ?? randomUUID();
  return {
    requestId,
    key: request.sessionId ?? requestId,
    value: JSON.stringify({ ...request, requestId }),
    headers: {
      ce_specversion: "1.0",
      ce_id: requestId,
      ce_source: source,
      ce_type: REQUESTED,
      "content-type": "application/json",
      ...(expires && { ce_expirytime: expires.toISOString() }),
      ...headers,
    },
  };
}

/** Where a request stands in the requests topic. Within a partition, the newer request has the greater offset. */
export interface Position {
  topic: string;
  partition: number;
  offset: bigint;
}

/** The outcome of a request that succeeded. An empty list of places is a success. */
export interface Completed {
  type: "completed";
  event: Result;
  requestPosition: Position;
  /** The header `request-steps`: where the time of the request went, for logs. Absent unless workers write it. */
  steps?: string;
}

/** The outcome of a request that failed; `event.error` says why. */
export interface Failed {
  type: "failed";
  event: ErrorEvent;
  requestPosition: Position;
  /** The header `request-steps`: where the time of the request went, for logs. Absent unless workers write it. */
  steps?: string;
}

export type Outcome = Completed | Failed;

/**
 * Reads a record of the results or errors topic.
 *
 * @throws TypeError for a record that is no outcome, which a consumer should log and pass over.
 */
export function decodeOutcome(value: Uint8Array | null, headers: Headers = {}): Outcome {
  const [topic, partition, offset] = ["topic", "partition", "offset"].map((part) => text(headers[`source-${part}`]));
  const type = text(headers["ce_type"]);
  const event = parsed(value);
  const isOutcome = /^\d+$/.test(partition ?? "") && /^\d+$/.test(offset ?? "") && typeof event?.requestId === "string";

  if (topic && partition && offset && isOutcome) {
    const requestPosition = { topic, partition: Number(partition), offset: BigInt(offset) };
    const steps = text(headers["request-steps"]);
    const known = { requestPosition, ...(steps !== undefined && { steps }) };
    if (type === COMPLETED) return { type: "completed", event: event as Result, ...known };
    if (type === FAILED && event.error) return { type: "failed", event: event as ErrorEvent, ...known };
  }
  throw new TypeError(`no outcome of a request: ce_type is ${type}`);
}

function text(header: Headers[string]): string | undefined {
  const value = Array.isArray(header) ? header.at(-1) : header;
  return typeof value === "object" ? new TextDecoder().decode(value) : value;
}

function parsed(value: Uint8Array | null): { requestId?: unknown; error?: unknown } | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(value ?? new Uint8Array())) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Drops second copies of outcomes, which a crash of a worker can cause.
 *
 * Of two copies the first one counts, except that a result also counts after an error, and then replaces it.
 */
export class Deduplicator {
  readonly #completed = new Map<string, boolean>();
  readonly #capacity: number;

  /** @param capacity Requests to remember. Copies are seldom further apart than the open requests of a fleet. */
  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  /** Returns whether an outcome counts, and remembers it. */
  accepts({ type, requestPosition: { topic, partition, offset } }: Outcome): boolean {
    const request = `${topic}-${partition}-${offset}`;
    const known = this.#completed.get(request);
    const completed = type === "completed";
    if (known || (known === false && !completed)) return false;

    this.#completed.set(request, completed);
    if (this.#completed.size > this.#capacity) {
      const [oldest] = this.#completed.keys();
      this.#completed.delete(oldest!);
    }
    return true;
  }
}

/**
 * Returns how many milliseconds to wait before sending the same request again, or undefined where that would not help.
 *
 * Workers have tried again already, within the request's own deadline. So this waits for as long as the failure's
 * `retryAfterMs` says, and for a random time that grows from one attempt to the next, lest all clients come back at once.
 * Give the request that you send again a `requestId` of its own.
 *
 * @param attempt How often the request has been sent, 1 after the first time.
 * @param attempts How often it may be sent in all.
 * @param maxDelayMs The longest wait that the caller accepts. The advice can be much longer: when a day's quota is used up,
 *   it is the time until the next day. Then this returns undefined, and `retryAfterMs` of the failure says when to try again.
 */
export function retryDelay(outcome: Outcome, attempt: number, attempts = 3, maxDelayMs = 60_000): number | undefined {
  if (outcome.type === "completed" || !outcome.event.error.retryable || attempt >= attempts) return undefined;
  const advice = outcome.event.error.retryAfterMs ?? 0;
  const backoff = Math.min(30_000, 1000 * 2 ** (attempt - 1));
  return advice + backoff > maxDelayMs ? undefined : advice + backoff * (0.5 + Math.random() / 2);
}
