// A `Kafka` for the tests: that of kafkajs where it is installed, else one of the same form on top of confluent-kafka for
// Python. The second one is for machines that reach PyPI and no registry of npm.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * Returns a `Kafka`, a function that lets its consumers join their groups again, and one that ends it.
 *
 * @param servers The brokers' addresses, with commas between them.
 */
export async function connectKafka(servers = process.env.KAFKA_BOOTSTRAP_SERVERS) {
  if (!servers) throw new Error("no broker: run make test-clients");
  try {
    const { Kafka, logLevel } = (await import("kafkajs")).default;
    const retry = { initialRetryTime: 100, retries: 6 };
    const kafka = new Kafka({ brokers: servers.split(","), logLevel: logLevel.NOTHING, retry });
    return { ...withRejoin(kafka), library: "kafkajs", end: () => {} };
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  }
  const bridge = new Bridge(servers);
  const rejoin = () => bridge.rejoin();
  return { kafka: bridge.kafka(), library: "confluent-kafka for Python", rejoin, end: () => bridge.end() };
}

/** A consumer of kafkajs joins its group again whenever another member comes or goes. */
function withRejoin(kafka) {
  const joined = []; // of each consumer: its group, its topics, and how many partitions it has
  const short = { sessionTimeout: 4000, heartbeatInterval: 500 }; // the embedded broker needs that long to form a group again
  const consumer = (config) => {
    const real = kafka.consumer({ ...config, ...short });
    const own = { groupId: config.groupId, partitions: 0 };
    joined.push(own);
    real.on("consumer.group_join", ({ payload }) => {
      own.topics ??= Object.keys(payload.memberAssignment);
      own.partitions = Object.values(payload.memberAssignment).flat().length;
    });
    return real;
  };
  const rejoin = async () => {
    for (const own of joined) {
      const all = own.partitions;
      const other = kafka.consumer({ groupId: own.groupId, ...short });
      await other.connect();
      await other.subscribe({ topics: own.topics, fromBeginning: true });
      await other.run({ autoCommit: false, eachMessage: async () => {} });
      await other.disconnect();
      while (own.partitions < all) await setTimeout(20);
    }
  };
  return { kafka: { consumer, producer: (config) => kafka.producer(config), admin: () => kafka.admin() }, rejoin };
}

class Bridge {
  #servers;
  #process;
  #calls = new Map();
  #handlers = new Set();
  #joins = new Set();
  #nextId = 0;

  constructor(servers) {
    this.#servers = servers;
    this.#process = spawn(process.env.PYTHON ?? "python3", [fileURLToPath(new URL("bridge.py", import.meta.url))], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, KAFKA_BOOTSTRAP_SERVERS: servers },
    });
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const { id, result, error, record } = JSON.parse(line);
      if (record) return this.#handlers.forEach((handler) => handler(record));
      const { resolve, reject } = this.#calls.get(id);
      this.#calls.delete(id);
      error ? reject(new Error(error)) : resolve(result);
    });
  }

  end() {
    this.#process.stdin.end();
  }

  call(call, args) {
    const id = this.#nextId++;
    this.#process.stdin.write(`${JSON.stringify({ id, call, arguments: args })}\n`);
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  async rejoin() {
    for (const join of this.#joins) await join();
  }

  async #connect() {
    try {
      await this.call("connect", {});
    } catch (error) {
      // As kafkajs has it.
      throw Object.assign(new Error(`Connection error: ${error.message}`), { broker: this.#servers });
    }
  }

  /** The part of kafkajs' interface that the client uses, with kafkajs' habits. */
  kafka() {
    const connection = { connect: () => this.#connect(), disconnect: async () => {} };
    let sending = 0;
    return {
      admin: () => ({ ...connection, fetchTopicOffsets: (topic) => this.call("ends", { topic }) }),
      producer: ({ createPartitioner }) => ({
        ...connection,
        send: async ({ topic, messages }) => {
          await setTimeout(sending++ ? 0 : 20); // the second of two sends overtakes the first
          sending--;
          const partitionMetadata = (await this.call("partitions", { topic })).map((partitionId) => ({ partitionId }));
          const [message] = messages;
          const partition = createPartitioner()({ topic, partitionMetadata, message });
          return [await this.call("send", { topic, partition, ...message })];
        },
      }),
      consumer: () => this.#consumer(connection),
    };
  }

  #consumer(connection) {
    const [positions, seeks, topics, listeners] = [new Map(), new Map(), [], []];
    let handler;
    const join = async () => {
      const memberAssignment = {};
      for (const topic of topics) memberAssignment[topic] = await this.call("partitions", { topic });
      positions.clear(); // kafkajs forgets them, too
      seeks.clear();
      for (const listener of listeners) listener({ payload: { memberAssignment } });

      for (const [topic, partitions] of Object.entries(memberAssignment)) {
        for (const partition of partitions) {
          const offset = seeks.get(`${topic}-${partition}`) ?? "0";
          positions.set(`${topic}-${partition}`, BigInt(offset));
          await this.call("read", { topic, partition, offset });
        }
      }
    };
    return {
      ...connection,
      disconnect: async () => {
        this.#handlers.delete(handler);
        this.#joins.delete(join);
      },
      on: (event, listener) => event === "consumer.group_join" && listeners.push(listener),
      subscribe: async (subscription) => topics.push(...subscription.topics),
      run: async ({ eachMessage }) => {
        handler = ({ topic, partition, offset, value, headers }) => {
          // All consumers share one reader, so each passes over what stands before its own position.
          const position = positions.get(`${topic}-${partition}`);
          if (position === undefined || BigInt(offset) < position) return;
          positions.set(`${topic}-${partition}`, BigInt(offset) + 1n);
          const message = { offset, headers, value: value === null ? null : Buffer.from(value, "base64") };
          eachMessage({ topic, partition, message });
        };
        this.#handlers.add(handler);
        this.#joins.add(join);
        await join();
      },
      seek: ({ topic, partition, offset }) => {
        // kafkajs obeys before its next fetch, wherever it has read to meanwhile.
        seeks.set(`${topic}-${partition}`, offset);
        if (!positions.has(`${topic}-${partition}`)) return;
        positions.set(`${topic}-${partition}`, BigInt(offset));
        void this.call("read", { topic, partition, offset });
      },
    };
  }
}
