// A `Kafka` for the tests: that of kafkajs where it is installed, else one of the same form on top of confluent-kafka for
// Python. The second one is for machines that reach PyPI and no registry of npm.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const servers = process.env.KAFKA_BOOTSTRAP_SERVERS;
if (!servers) throw new Error("no broker: run make test-clients");

/** Returns a `Kafka`, and a function that ends it. */
export async function connectKafka() {
  try {
    const { Kafka, logLevel } = (await import("kafkajs")).default;
    return { kafka: new Kafka({ brokers: [servers], logLevel: logLevel.NOTHING }), library: "kafkajs", end: () => {} };
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  }
  const bridge = new Bridge();
  return { kafka: bridge.kafka(), library: "confluent-kafka for Python", end: () => bridge.end() };
}

class Bridge {
  #process = spawn(process.env.PYTHON ?? "python3", [fileURLToPath(new URL("bridge.py", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  #calls = new Map();
  #handlers = new Set();
  #nextId = 0;

  constructor() {
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

  /** The part of kafkajs' interface that the client uses, with kafkajs' habits. */
  kafka() {
    const connection = { connect: async () => {}, disconnect: async () => {} };
    let sending = 0;
    return {
      admin: () => ({ ...connection, fetchTopicOffsets: (topic) => this.call("ends", { topic }) }),
      producer: ({ createPartitioner }) => ({
        ...connection,
        send: async ({ topic, messages }) => {
          await setTimeout(sending++ ? 0 : 20); // the second of two sends overtakes the first
          sending--;
          const partitionMetadata = (await this.call("partitions", { topic })).map((partitionId) => ({ partitionId }));
          for (const message of messages) {
            const partition = createPartitioner()({ topic, partitionMetadata, message });
            await this.call("send", { topic, partition, ...message });
          }
        },
      }),
      consumer: () => this.#consumer(connection),
    };
  }

  #consumer(connection) {
    let handler;
    const positions = new Map();
    return {
      ...connection,
      disconnect: async () => this.#handlers.delete(handler),
      subscribe: async () => {},
      run: async ({ eachMessage }) => {
        handler = ({ topic, partition, offset, value, headers }) => {
          // All consumers share one reader, so each passes over what stands before its own position.
          const position = positions.get(`${topic}-${partition}`);
          if (position === undefined || BigInt(offset) < position) return;
          const message = { offset, headers, value: value === null ? null : Buffer.from(value, "base64") };
          eachMessage({ topic, partition, message });
        };
        this.#handlers.add(handler);
      },
      seek: ({ topic, partition, offset }) => {
        positions.set(`${topic}-${partition}`, BigInt(offset));
        void this.call("read", { topic, partition, offset });
      },
    };
  }
}
