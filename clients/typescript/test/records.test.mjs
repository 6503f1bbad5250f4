// What knows no Kafka client: events to and from records, partitions, second copies, and advice on retries.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  RETRYABLE_CODES, Deduplicator, decodeOutcome, encodeRequest, javaPartitioner, partitionFor, retryDelay,
} from "location-search-client";

const SHINJUKU = { location: { latitude: 35.690921, longitude: 139.700258 } };

/** A result, or an error with a code. */
function outcome(code, { offset = 7, ...failure } = {}) {
  const error = code && { code, message: "m", retryable: RETRYABLE_CODES.has(code), ...failure };
  return decodeOutcome(Buffer.from(JSON.stringify({ requestId: "r", error })), {
    ce_type: Buffer.from(`location-search.${code ? "failed" : "completed"}.v1`),
    "source-topic": Buffer.from("location-search.requests"),
    "source-partition": Buffer.from("2"),
    "source-offset": Buffer.from(`${offset}`),
  });
}

// Kafka's own test vectors of murmur2.
const HASHES = {
  "21": -973932308,
  foobar: -790332482,
  "a-little-bit-long-string": -985981536,
  "a-little-bit-longer-string": -1486304829,
  lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8: -58897971,
  abc: 479470107,
};
for (const [key, hash] of Object.entries(HASHES)) {
  test(`the key ${key} goes to the partition that Java chooses`, () => {
    for (const partitions of [1, 3, 12, 1000]) {
      assert.equal(partitionFor(key, partitions), (hash & 0x7fffffff) % partitions);
    }
    const partitionMetadata = Array.from({ length: 12 }, (_, partitionId) => ({ partitionId }));
    assert.equal(javaPartitioner()({ message: { key: Buffer.from(key) }, partitionMetadata }), (hash & 0x7fffffff) % 12);
  });
}

test("examples of the schemas can be read", () => {
  const lines = readFileSync(`${process.env.SCHEMAS}/examples/events.jsonl`, "utf8").trim().split("\n");
  const counts = { completed: 0, failed: 0 };
  for (const { headers, value } of lines.map((line) => JSON.parse(line))) {
    const named = Object.fromEntries(headers ?? []);
    if (!named["source-topic"] || named["dead-letter-reason"]) continue;
    counts[decodeOutcome(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)), named).type]++;
  }
  assert.ok(counts.completed && counts.failed, JSON.stringify(counts));
});

test("the steps of a request are there where workers write them", () => {
  const steps = "topic 12; call hotpepper 0+61 ok";
  for (const kind of ["completed", "failed"]) {
    const headers = { ce_type: `location-search.${kind}.v1`, "source-topic": "t", "source-partition": "2", "source-offset": "7" };
    const value = Buffer.from(JSON.stringify({ requestId: "r", error: { code: "timeout" } }));
    assert.equal(decodeOutcome(value, { ...headers, "request-steps": Buffer.from(steps) }).steps, steps);
    assert.equal("steps" in decodeOutcome(value, headers), false);
  }
});

test("the key is the session, else the request id", () => {
  const source = "/t";
  assert.equal(encodeRequest({ ...SHINJUKU, requestId: "r-1", sessionId: "s-1" }, { source }).key, "s-1");
  assert.equal(encodeRequest({ ...SHINJUKU, requestId: "r-1" }, { source }).key, "r-1");
});

test("a request is a CloudEvent", () => {
  const expires = new Date("2026-11-21T09:30:00.250Z");
  const options = { source: "/shop", expires, headers: { traceparent: "00-1-2-01" } };
  const record = encodeRequest({ ...SHINJUKU, keyword: "ラーメン" }, options);

  assert.deepEqual(record.headers, {
    ce_specversion: "1.0",
    ce_id: record.requestId,
    ce_source: "/shop",
    ce_type: "location-search.requested.v1",
    "content-type": "application/json",
    ce_expirytime: "2026-11-21T09:30:00.250Z",
    traceparent: "00-1-2-01",
  });
  assert.deepEqual(JSON.parse(record.value), { ...SHINJUKU, keyword: "ラーメン", requestId: record.requestId });
});

for (const value of ["{", "[]", "null", "7", "", '{"requestId": 7}']) {
  test(`${value || "an empty record"} is no outcome`, () => {
    assert.throws(() => decodeOutcome(Buffer.from(value), { ce_type: "location-search.failed.v1" }), TypeError);
  });
}

const COPIES = [
  [[undefined, undefined], [true, false]],
  [["timeout", "timeout"], [true, false]],
  [["superseded", undefined], [true, true]], // the result counts, whichever came first
  [["superseded", undefined, undefined], [true, true, false]],
  [[undefined, "superseded"], [true, false]],
];
for (const [codes, accepted] of COPIES) {
  test(`of ${codes.map((code) => code ?? "result").join(", ")} the right copy counts`, () => {
    const outcomes = new Deduplicator();
    assert.deepEqual(codes.map((code) => outcomes.accepts(outcome(code))), accepted);
  });
}

test("the deduplicator forgets the oldest", () => {
  const outcomes = new Deduplicator(2);
  const accepted = [1, 2, 3, 3, 2, 1].map((offset) => outcomes.accepts(outcome(undefined, { offset })));
  assert.deepEqual(accepted, [true, true, true, false, false, true]);
});

test("a retryable failure is sent again a few times", () => {
  for (const code of RETRYABLE_CODES) {
    const [first, second, third] = [1, 2, 3].map((attempt) => retryDelay(outcome(code), attempt));
    assert.ok(first >= 500 && first <= 1000, `${first}`);
    assert.ok(second >= 1000 && second <= 2000, `${second}`);
    assert.equal(third, undefined);
  }
});

test("other outcomes are not sent again", () => {
  for (const code of ["invalid-request", "unauthorized", "superseded", "expired", undefined]) {
    assert.equal(retryDelay(outcome(code, { retryAfterMs: 10 }), 1), undefined);
  }
});

test("a retry waits for as long as the failure says", () => {
  const delay = retryDelay(outcome("rate-limited", { retryAfterMs: 4000 }), 1);
  assert.ok(delay >= 4500 && delay <= 5000, `${delay}`);
});

test("a retry that must wait longer than the caller accepts is not advised", () => {
  const hours = outcome("rate-limited", { retryAfterMs: 18 * 3_600_000 });
  assert.equal(retryDelay(hours, 1), undefined);
  assert.equal(retryDelay(hours, 1, 3, 18 * 3_600_000), undefined);
  assert.ok(retryDelay(hours, 1, 3, 24 * 3_600_000) >= 18 * 3_600_000);
  assert.equal(retryDelay(outcome("timeout"), 1, 3, 100), undefined);
});
