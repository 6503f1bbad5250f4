import type { Partitioner } from "./kafka.js";

/** Kafka's 32-bit murmur2, as a signed number. */
export function murmur2(bytes: Uint8Array): number {
  const m = 0x5bd1e995;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let hash = 0x9747b28c ^ bytes.length;

  for (let index = 0; index < whole; index += 4) {
    let word = Math.imul(view.getInt32(index, true), m);
    word ^= word >>> 24;
    hash = Math.imul(hash, m) ^ Math.imul(word, m);
  }
  if (whole < bytes.length) {
    for (let index = bytes.length - 1; index >= whole; index--) hash ^= bytes[index]! << (8 * (index - whole));
    hash = Math.imul(hash, m);
  }

  hash = Math.imul(hash ^ (hash >>> 13), m);
  return hash ^ (hash >>> 15);
}

/** The partition of a key, as Kafka's Java clients, the workers and their tools choose it. */
export function partitionFor(key: Uint8Array | string, partitions: number): number {
  return (murmur2(typeof key === "string" ? new TextEncoder().encode(key) : key) & 0x7fffffff) % partitions;
}

/** For `createPartitioner` of a kafkajs producer. It wants every message to have a key. */
export const javaPartitioner: Partitioner =
  () =>
  ({ message, partitionMetadata }) =>
    message.partition ?? partitionFor(message.key ?? "", partitionMetadata.length);
