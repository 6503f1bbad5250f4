// The client, beside a real broker, provider and worker.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ClientClosed, OutcomeTimeout, SearchClient, Superseded, partitionFor, retryDelay } from "location-search-client";
import { connectKafka } from "./support/kafka.mjs";

const SEARCH = { location: { latitude: 35.690921, longitude: 139.700258 }, provider: "hotpepper" };
const within = { withinMs: 20_000 };
const unread = { requests: "unread.requests" };
let connection, client;

before(async () => {
  connection = await connectKafka();
  console.log(`these tests run on ${connection.library}`);
  client = await SearchClient.connect({ kafka: connection.kafka, source: "/client-tests", onStrangeRecord: () => {} });
});
after(async () => {
  await client.close();
  connection.end();
});

/** Runs with a client of its own. */
async function withClient(options, body) {
  const own = await SearchClient.connect({ kafka: connection.kafka, source: "/client-tests", ...options });
  try {
    return await body(own);
  } finally {
    await own.close();
  }
}

/** A Kafka that collects what is sent. `before` runs ahead of each send, and `written` resolves after the first one. */
function watched(before = async () => {}) {
  const sent = [];
  let resolveWritten;
  const written = new Promise((resolve) => (resolveWritten = resolve));
  const producer = (config) => {
    const real = connection.kafka.producer(config);
    const send = async (record) => {
      sent.push(record.messages[0]);
      await before(record);
      const report = await real.send(record);
      resolveWritten();
      return report;
    };
    return { connect: () => real.connect(), disconnect: () => real.disconnect(), send };
  };
  const kafka = { producer, consumer: (config) => connection.kafka.consumer(config), admin: () => connection.kafka.admin() };
  return { kafka, sent, written };
}

test("a search returns places", async () => {
  const outcome = await client.send({ ...SEARCH, limit: 3 }, within);

  assert.equal(outcome.type, "completed");
  assert.ok(outcome.event.places.length >= 1 && outcome.event.places.length <= 3);
  assert.equal(outcome.requestPosition.topic, "location-search.requests");
});

test("many requests get their own outcomes", async () => {
  const ids = Array.from({ length: 20 }, () => `many-${randomUUID()}`);
  const outcomes = await Promise.all(ids.map((requestId) => client.send({ ...SEARCH, requestId }, within)));

  assert.deepEqual(outcomes.map(({ event }) => event.requestId), ids);
});

test("a request stands in the partition of its session", async () => {
  const { requestPosition } = await client.send({ ...SEARCH, sessionId: "foobar" }, within);

  assert.equal(requestPosition.partition, partitionFor("foobar", 3));
});

test("an invalid request fails and is not worth another try", async () => {
  const outcome = await client.send({ ...SEARCH, radiusMeters: -1 }, within);

  assert.equal(outcome.type, "failed");
  assert.deepEqual([outcome.event.error.code, outcome.event.error.member], ["invalid-request", "radiusMeters"]);
  assert.equal(retryDelay(outcome, 1), undefined);
});

test("a provider that is away is worth another try, which succeeds", async () => {
  const request = { ...SEARCH, keyword: `fault:503*1 ${randomUUID()}` };
  const first = await client.send(request, within);
  const second = await client.send(request, within);

  assert.equal(first.event.error.code, "upstream-unavailable");
  assert.ok(retryDelay(first, 1) >= (first.event.error.retryAfterMs ?? 0));
  assert.equal(second.type, "completed");
});

test("a newer search supersedes the older one, in sends that could overtake each other", async () => {
  for (let round = 0; round < 3; round++) {
    const sessionId = `session-${randomUUID()}`;
    const older = client.send({ ...SEARCH, sessionId, keyword: "fault:delay=5000" }, within);
    const newer = client.send({ ...SEARCH, sessionId }, within);

    await assert.rejects(older, Superseded);
    assert.equal((await newer).type, "completed");
  }
});

test("a search that another client supersedes rejects in the same way", async () => {
  const { kafka, written } = watched();
  await withClient({ kafka }, async (other) => {
    const sessionId = `session-${randomUUID()}`;
    const older = other.send({ ...SEARCH, sessionId, keyword: "fault:delay=5000" }, within);
    const rejected = assert.rejects(older, Superseded);
    await written;
    const newer = await client.send({ ...SEARCH, sessionId }, within);

    await rejected;
    assert.equal(newer.type, "completed");
  });
});

test("details do not supersede a search", async () => {
  const sessionId = `session-${randomUUID()}`;
  const searching = client.send({ ...SEARCH, sessionId }, within);
  const details = client.send({ operation: "details", provider: "hotpepper", placeId: "J000000000", sessionId }, within);

  assert.equal((await searching).type, "completed");
  await details;
});

test("a request that nobody reads times out and has expired", async () => {
  const { kafka, sent } = watched();
  await withClient({ kafka, topics: unread }, (own) => assert.rejects(own.send(SEARCH, { withinMs: 100 }), OutcomeTimeout));

  const [message] = sent;
  assert.ok(Date.parse(message.headers.ce_expirytime) <= Date.now());
});

test("a request that cannot be written rejects with the reason", async () => {
  const { kafka } = watched(() => Promise.reject(new Error("the topic takes no records")));
  await withClient({ kafka }, (own) => assert.rejects(own.send(SEARCH, within), /takes no records/));
});

test("a superseded request that waits behind another record is not sent", async () => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const { kafka, sent } = watched(() => (sent.length === 1 ? held : undefined));
  await withClient({ kafka }, async (own) => {
    const sessionId = `session-${randomUUID()}`;
    const send = (keyword) => own.send({ ...SEARCH, sessionId, keyword }, within);
    const first = send("first");
    await setImmediate(); // so that it is being handed to Kafka
    const searches = [first, send("second"), send("third")];
    const rejected = Promise.all(searches.slice(0, 2).map((search) => assert.rejects(search, Superseded)));
    release();

    await rejected;
    assert.equal((await searches[2]).type, "completed");
    assert.deepEqual(sent.map(({ value }) => JSON.parse(value).keyword), ["first", "third"]);
  });
});

test("a request id can be under way only once", async () => {
  const requestId = `same-${randomUUID()}`;
  const first = client.send({ ...SEARCH, requestId, keyword: "fault:delay=200" }, within);

  await assert.rejects(client.send({ ...SEARCH, requestId }, within), RangeError);
  assert.equal((await first).type, "completed");
});

test("an outcome of another program's request can be expected", async () => {
  await withClient({}, async (other) => {
    const requestId = `other-${randomUUID()}`;
    const expected = client.expect(requestId, 20_000);
    await other.send({ ...SEARCH, requestId }, within);

    assert.equal((await expected).event.requestId, requestId);
  });
});

test("closing ends what is under way", async () => {
  const own = await SearchClient.connect({ kafka: connection.kafka, source: "/client-tests", topics: unread });
  const rejected = assert.rejects(own.send(SEARCH), ClientClosed);
  await own.close();

  await rejected;
  await assert.rejects(own.send(SEARCH), ClientClosed);
});

test("a consumer that crashes permanently ends what is under way and later sends", async () => {
  const listeners = new Map();
  const consumer = (config) => {
    const real = connection.kafka.consumer(config);
    const on = (event, listener) => {
      listeners.set(event, listener);
      return real.on(event, listener);
    };
    return { ...real, on };
  };
  const kafka = { consumer, producer: (config) => connection.kafka.producer(config), admin: () => connection.kafka.admin() };
  await withClient({ kafka, topics: unread }, async (own) => {
    const error = new Error("the login was revoked");
    const crash = (restart) => listeners.get("consumer.crash")({ payload: { error, restart } });
    const isEnded = (reason) => reason instanceof ClientClosed && /revoked/.test(reason.message) && reason.cause === error;

    let ended = false;
    const rejected = assert.rejects(own.send(SEARCH, within), isEnded).then(() => (ended = true));
    crash(true);
    await setImmediate();
    assert.equal(ended, false);

    crash(false);
    await rejected;
    await assert.rejects(own.send(SEARCH, within), isEnded);
    await assert.rejects(own.expect("another-request"), isEnded);
  });
});

test("the example of the README prints places", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = readme.split("```ts\n")[1].split("```")[0].replaceAll(/^(import .*|const kafka = .*)$/gm, "");
  const printed = [];
  const AsyncFunction = (async () => {}).constructor;
  await new AsyncFunction("SearchClient", "kafka", "console", example)(SearchClient, connection.kafka, {
    log: (...words) => printed.push(words),
  });

  assert.ok(printed.length && printed.every(([name]) => typeof name === "string"), JSON.stringify(printed));
});
