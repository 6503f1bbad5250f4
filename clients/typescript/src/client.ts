// A client that sends requests and waits for their outcomes, on top of kafkajs.

import { randomUUID } from "node:crypto";
import { ERRORS_TOPIC, REQUESTS_TOPIC, RESULTS_TOPIC, type Request } from "./events.js";
import type { Consumer, Kafka, KafkaRecord, OutgoingMessage, Producer } from "./kafka.js";
import { javaPartitioner } from "./partitioner.js";
import { decodeOutcome, encodeRequest, type Outcome } from "./records.js";

/** No outcome arrived in time. The request has expired, so a worker that reads it later asks no provider. */
export class OutcomeTimeout extends Error {
  override name = "OutcomeTimeout";
}

/** A newer search of the same session was sent, so nobody needs this outcome any more. */
export class Superseded extends Error {
  override name = "Superseded";
}

/** The client was closed before the outcome arrived. */
export class ClientClosed extends Error {
  override name = "ClientClosed";
}

export interface ClientOptions {
  /** A `Kafka` of kafkajs. */
  kafka: Kafka;
  /** The URI of your program, for `ce_source` of its requests. */
  source: string;
  /** The names of the topics, for workers whose settings `topics.*` are not the default. */
  topics?: { requests?: string; results?: string; errors?: string };
  /** Is told of records in the outcome topics that are no outcomes. By default, it writes a warning to the console. */
  onStrangeRecord?: (error: unknown, record: KafkaRecord) => void;
}

export interface SendOptions {
  /** Milliseconds until the promise rejects with OutcomeTimeout; 30,000 by default. The request expires then, too. */
  withinMs?: number;
  /** Further headers, such as `traceparent`. */
  headers?: Record<string, string>;
}

interface Waiting {
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
  timer: ReturnType<typeof setTimeout>;
}

/**
 * Sends requests, and gives each its outcome.
 *
 * It reads every outcome that is written while it is open, and keeps those of its own requests. So each process needs one
 * client for its whole life, not one for each request.
 */
export class SearchClient {
  readonly #options: ClientOptions;
  readonly #topics: { requests: string; results: string; errors: string };
  readonly #producer: Producer;
  readonly #consumer: Consumer;
  readonly #waiting = new Map<string, Waiting>();
  /** The newest search under way of each session, by request id. */
  readonly #newest = new Map<string, string>();
  /** The last record of each key that is being sent. */
  readonly #sending = new Map<string, Promise<unknown>>();
  #closed = false;

  private constructor(options: ClientOptions) {
    this.#options = options;
    this.#topics = { requests: REQUESTS_TOPIC, results: RESULTS_TOPIC, errors: ERRORS_TOPIC, ...options.topics };
    this.#producer = options.kafka.producer({ createPartitioner: javaPartitioner });
    // kafkajs cannot read without a group, so each client has one of its own. It commits nothing, and vanishes with it.
    const groupId = `location-search-client-${randomUUID()}`;
    this.#consumer = options.kafka.consumer({ groupId, maxWaitTimeInMs: 500 });
  }

  /** Connects, and finds out where the outcome topics end, so that no outcome is missed from here on. */
  static async connect(options: ClientOptions): Promise<SearchClient> {
    const client = new SearchClient(options);
    try {
      await client.#connect();
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  async #connect(): Promise<void> {
    await this.#producer.connect();
    await this.#consumer.connect();
    const topics = [this.#topics.results, this.#topics.errors];
    const ends = await this.#ends(topics);

    // Partitions that are added later are read from their beginning; those of today from where they end now.
    await this.#consumer.subscribe({ topics, fromBeginning: true });
    await this.#consumer.run({ autoCommit: false, eachMessage: async (record) => this.#receive(record) });
    for (const end of ends) this.#consumer.seek(end);
  }

  async #ends(topics: string[]): Promise<{ topic: string; partition: number; offset: string }[]> {
    const admin = this.#options.kafka.admin();
    await admin.connect();
    try {
      const ends = topics.map(async (topic) =>
        (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({ topic, partition, offset: high })),
      );
      return (await Promise.all(ends)).flat();
    } finally {
      await admin.disconnect();
    }
  }

  /**
   * Sends a request and waits for its outcome.
   *
   * A search with a `sessionId` supersedes the session's older search, whose promise then rejects with Superseded.
   */
  async send(request: Request, { withinMs = 30_000, headers = {} }: SendOptions = {}): Promise<Outcome> {
    const expires = new Date(Date.now() + withinMs);
    const { requestId, ...message } = encodeRequest(request, { source: this.#options.source, expires, headers });
    const outcome = this.expect(requestId, withinMs);
    if (request.sessionId && (request.operation ?? "search") === "search") this.#supersede(request.sessionId, requestId);

    this.#produce(message).catch((error: unknown) => this.#end(requestId, ({ reject }) => reject(error)));
    return outcome.finally(() => {
      if (request.sessionId && this.#newest.get(request.sessionId) === requestId) this.#newest.delete(request.sessionId);
    });
  }

  /**
   * Waits for the outcome of a request that another program sends.
   *
   * Call this before that program sends it, because outcomes that nobody waits for are not kept.
   */
  expect(requestId: string, withinMs = 30_000): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new ClientClosed("the client is closed");
      if (this.#waiting.has(requestId)) throw new RangeError(`the request ${requestId} is under way already`);

      const expired = new OutcomeTimeout(`no outcome of the request ${requestId} within ${withinMs} ms`);
      const timer = setTimeout(() => this.#end(requestId, () => reject(expired)), withinMs);
      this.#waiting.set(requestId, { resolve, reject, timer });
    });
  }

  /** Disconnects. What is under way rejects with ClientClosed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const requestId of [...this.#waiting.keys()]) {
      this.#end(requestId, ({ reject }) => reject(new ClientClosed("the client was closed")));
    }
    await Promise.all([this.#producer.disconnect(), this.#consumer.disconnect()]);
  }

  /**
   * Writes a record after the earlier ones of its key are acknowledged. kafkajs lets two sends overtake each other, and
   * the older search would then supersede the newer one.
   */
  async #produce(message: OutgoingMessage): Promise<void> {
    const earlier = this.#sending.get(message.key);
    const sent = (earlier ?? Promise.resolve())
      .catch(() => {}) // its own request has been told
      .then(() => this.#producer.send({ topic: this.#topics.requests, messages: [message] }));
    this.#sending.set(message.key, sent);
    try {
      await sent;
    } finally {
      if (this.#sending.get(message.key) === sent) this.#sending.delete(message.key);
    }
  }

  #receive(record: KafkaRecord): void {
    try {
      this.#deliver(decodeOutcome(record.message.value, record.message.headers));
    } catch (error) {
      const warn = () => console.warn(`passed over a record of ${record.topic}:`, error);
      (this.#options.onStrangeRecord ?? warn)(error, record);
    }
  }

  #deliver(outcome: Outcome): void {
    this.#end(outcome.event.requestId, ({ resolve, reject }) => {
      if (outcome.type === "failed" && outcome.event.error.code === "superseded") {
        reject(new Superseded(outcome.event.error.message));
      } else {
        resolve(outcome);
      }
    });
  }

  /** Ends a request's promise. Second copies of an outcome find no promise any more. */
  #end(requestId: string, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(requestId);
    if (!waiting) return;
    this.#waiting.delete(requestId);
    clearTimeout(waiting.timer);
    settle(waiting);
  }

  #supersede(sessionId: string, requestId: string): void {
    const older = this.#newest.get(sessionId);
    this.#newest.set(sessionId, requestId);
    if (older) this.#end(older, ({ reject }) => reject(new Superseded("a newer search of the same session was sent")));
  }
}
