export * from "./client.js";
export * from "./errors.js";
export * from "./events.js";
export type { Kafka, KafkaRecord, Partitioner } from "./kafka.js";
export { javaPartitioner, partitionFor } from "./partitioner.js";
export * from "./records.js";
