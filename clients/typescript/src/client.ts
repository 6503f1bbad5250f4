// A client that sends requests and waits for their outcomes, on top of kafkajs.

import { randomUUID } from "node:crypto";
import { BrokersUnreachable, ClientClosed, Superseded } from "./errors.js";
import { ERRORS_TOPIC, REQUESTS_TOPIC, RESULTS_TOPIC, type Request } from "./events.js";
import type { Consumer, Delivery, GroupJoin, Kafka, KafkaRecord, OutgoingMessage, Producer } from "./kafka.js";
import { javaPartitioner } from "./partitioner.js";
import { decodeOutcome, encodeRequest, type Outcome, type Position } from "./records.js";
import { type Waiting, WaitingTable } from "./waiting.js";

/** How long `close` waits for records that are being sent. */
const CLOSE_TIMEOUT_MS = 10_000;

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
  readonly #waiting = new WaitingTable();
  /** The newest search under way of each session. */
  readonly #newest = new Map<string, Waiting>();
  /** The last record of each key that is being sent. */
  readonly #sending = new Map<string, Promise<unknown>>();
  /** The next offset to read, by topic and partition. */
  readonly #positions = new Map<string, string>();
  /** The error of later calls: `close` was called, or kafkajs stopped reading permanently. */
  #closed: ClientClosed | undefined;

  private constructor(options: ClientOptions) {
    this.#options = options;
    this.#topics = { requests: REQUESTS_TOPIC, results: RESULTS_TOPIC, errors: ERRORS_TOPIC, ...options.topics };
    this.#producer = options.kafka.producer({ createPartitioner: javaPartitioner });
    // kafkajs cannot read without a group, so each client has one of its own. It commits nothing, and vanishes with it.
    const groupId = `location-search-client-${randomUUID()}`;
    this.#consumer = options.kafka.consumer({ groupId, maxWaitTimeInMs: 500 });
  }

  /**
   * Connects, and finds out where the outcome topics end, so that no outcome is missed from here on.
   *
   * @throws BrokersUnreachable when no broker answers. How long that takes is set by `retry` of its Kafka.
   */
  static async connect(options: ClientOptions): Promise<SearchClient> {
    const client = new SearchClient(options);
    try {
      await client.#connect();
    } catch (error) {
      await client.close().catch(() => {}); // the first error counts
      throw BrokersUnreachable.from(error) ?? error;
    }
    return client;
  }

  async #connect(): Promise<void> {
    await this.#producer.connect();
    await this.#consumer.connect();
    const topics = [this.#topics.results, this.#topics.errors];
    for (const { topic, partition, offset } of await this.#ends(topics)) this.#positions.set(`${topic}-${partition}`, offset);

    // Partitions that are added later are read from their beginning; those of today from where they end now.
    this.#consumer.on("consumer.group_join", ({ payload }) => this.#resume(payload.memberAssignment));
    // kafkajs restarts its consumer after most errors. After the others, no outcome would arrive any more.
    this.#consumer.on("consumer.crash", ({ payload }) => {
      if (!payload.restart) this.#fail(payload.error);
    });
    await this.#consumer.subscribe({ topics, fromBeginning: true });
    await this.#consumer.run({ autoCommit: false, eachMessage: async (record) => this.#receive(record) });
  }

  /** Continues where this client has read to. kafkajs forgets that whenever it joins the group again. */
  #resume(assignment: GroupJoin["payload"]["memberAssignment"]): void {
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) {
        const offset = this.#positions.get(`${topic}-${partition}`);
        if (offset !== undefined) this.#consumer.seek({ topic, partition, offset });
      }
    }
  }

  #fail(cause: Error): void {
    this.#closed ??= new ClientClosed(`kafkajs stopped reading outcomes: ${cause.message}`, { cause });
    this.#waiting.rejectAll(this.#closed);
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
   * A search with a `sessionId` supersedes the session's older search, whose promise then rejects with Superseded. Only the
   * outcome of the record that this client writes counts, also where another program uses the same `requestId`.
   *
   * Rejects with RangeError when this `requestId` is under way already. Rejects with ClientClosed after `close`, and after
   * kafkajs stopped reading permanently. Nothing is sent then.
   */
  async send(request: Request, { withinMs = 30_000, headers = {} }: SendOptions = {}): Promise<Outcome> {
    const expires = new Date(Date.now() + withinMs);
    const { requestId, ...message } = encodeRequest(request, { source: this.#options.source, expires, headers });
    const waiting = this.#register(requestId, withinMs, true);
    const session = (request.operation ?? "search") === "search" ? request.sessionId : undefined;
    if (session) this.#supersede(session, waiting);

    this.#produce(message, waiting).catch((error: unknown) => this.#waiting.reject(waiting, error));
    return waiting.outcome.finally(() => {
      if (session && this.#newest.get(session) === waiting) this.#newest.delete(session);
    });
  }

  /**
   * Waits for the outcome of a request that another program sends.
   *
   * Call this before that program sends it, because outcomes that nobody waits for are not kept. The first outcome with this
   * id counts, because this client does not know where the request stands.
   */
  async expect(requestId: string, withinMs = 30_000): Promise<Outcome> {
    return this.#register(requestId, withinMs, false).outcome;
  }

  #register(requestId: string, withinMs: number, isOwn: boolean): Waiting {
    if (this.#closed) throw this.#closed;
    return this.#waiting.register(requestId, withinMs, isOwn);
  }

  /**
   * Disconnects. What is under way rejects with ClientClosed.
   *
   * No record is handed to Kafka from now on. Those that are being sent already get up to 10 s.
   */
  async close(): Promise<void> {
    this.#closed ??= new ClientClosed("the client was closed");
    this.#waiting.rejectAll(this.#closed);

    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise((resolve) => (timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)));
    await Promise.race([Promise.allSettled(this.#sending.values()), timeout]);
    clearTimeout(timer);

    await Promise.all([this.#producer.disconnect(), this.#consumer.disconnect()]);
  }

  /**
   * Writes a record after the earlier ones of its key are acknowledged. kafkajs lets two sends overtake each other, and
   * the older search would then supersede the newer one.
   */
  async #produce(message: OutgoingMessage, waiting: Waiting): Promise<void> {
    const earlier = this.#sending.get(message.key);
    const sent = (earlier ?? Promise.resolve())
      .catch(() => {}) // its own request has been rejected
      .then(() => this.#hand(message, waiting));
    this.#sending.set(message.key, sent);
    try {
      await sent;
    } finally {
      if (this.#sending.get(message.key) === sent) this.#sending.delete(message.key);
    }
  }

  /** Hands a record to Kafka, unless its request has ended meanwhile: superseded, expired, or the client was closed. */
  async #hand(message: OutgoingMessage, waiting: Waiting): Promise<void> {
    if (!this.#waiting.has(waiting)) return;
    const [delivery] = await this.#producer.send({ topic: this.#topics.requests, messages: [message] });
    this.#waiting.locate(waiting, positionOf(delivery));
  }

  #receive(record: KafkaRecord): void {
    this.#positions.set(`${record.topic}-${record.partition}`, `${BigInt(record.message.offset) + 1n}`);
    try {
      this.#waiting.deliver(decodeOutcome(record.message.value, record.message.headers));
    } catch (error) {
      const warn = () => console.warn(`passed over a record of ${record.topic}:`, error);
      (this.#options.onStrangeRecord ?? warn)(error, record);
    }
  }

  #supersede(sessionId: string, waiting: Waiting): void {
    const older = this.#newest.get(sessionId);
    this.#newest.set(sessionId, waiting);
    if (older) this.#waiting.reject(older, new Superseded("a newer search of the same session was sent"));
  }
}

/** Where a request stands. Undefined where the brokers reported no offset. */
function positionOf(delivery: Delivery | undefined): Position | undefined {
  if (!delivery?.baseOffset || delivery.baseOffset.startsWith("-")) return undefined;
  return { topic: delivery.topicName, partition: delivery.partition, offset: BigInt(delivery.baseOffset) };
}
