// A program that uses the client, for the conformance suite (clients/conformance). A call is a line of JSON on standard input,
// its answer one on standard output. It ends with its standard input.

import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { SearchClient, retryDelay } from "location-search-client";
import { connectKafka } from "./kafka.mjs";

const outcomes = new Map(); // by the id of the call that sent the request
const read = []; // the positions of all records that the client was given
let connection, client, sends = 0;

/** A Kafka that delays the first record, and each delivery report, and notes what is read. */
function observed(kafka, { holdSendMs = 0, holdReportMs = 0 }) {
  const producer = (config) => {
    const real = kafka.producer(config);
    const send = async (record) => {
      if (sends++ === 0) await setTimeout(holdSendMs);
      const report = await real.send(record);
      await setTimeout(holdReportMs);
      return report;
    };
    return { connect: () => real.connect(), disconnect: () => real.disconnect(), send };
  };
  const consumer = (config) => {
    const real = kafka.consumer(config);
    const run = ({ eachMessage, ...others }) =>
      real.run({
        ...others,
        eachMessage: (record) => {
          read.push(`${record.topic}-${record.partition}-${record.message.offset}`);
          return eachMessage(record);
        },
      });
    return {
      connect: () => real.connect(),
      disconnect: () => real.disconnect(),
      subscribe: (subscription) => real.subscribe(subscription),
      seek: (position) => real.seek(position),
      on: (event, listener) => real.on(event, listener),
      run,
    };
  };
  return { producer, consumer, admin: () => kafka.admin() };
}

function text({ topic, partition, offset }) {
  return `${topic}-${partition}-${offset}`;
}

const functions = {
  async open(_, { servers, source, topics = {}, ...holds }) {
    connection = await connectKafka(servers);
    client = await SearchClient.connect({ kafka: observed(connection.kafka, holds), source, topics });
    return {};
  },
  async send(id, { request, within }) {
    const outcome = await client.send(request, { withinMs: within * 1000 });
    outcomes.set(id, outcome);
    return { ended: outcome.type, event: outcome.event, position: text(outcome.requestPosition) };
  },
  async delay(_, { of, maxDelay }) {
    const delay = retryDelay(outcomes.get(of), 1, 3, maxDelay && maxDelay * 1000);
    return { delay: delay === undefined ? null : delay / 1000 };
  },
  async observe() {
    return { read, sends };
  },
  async rejoin() {
    await connection.rejoin();
    return {};
  },
  async close() {
    await client.close();
    return {};
  },
};

/** The suite's names for errors that are not the packages' own. */
const NAMES = { RangeError: "DuplicateRequest" };

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, call, ...parameters } = JSON.parse(line);
    const answer = await functions[call](id, parameters).catch((error) => {
      return { ended: NAMES[error.name] ?? error.name, message: error.message };
    });
    console.log(JSON.stringify({ id, ...answer }));
  })
  .on("close", () => {
    connection?.end();
    process.exit();
  });
