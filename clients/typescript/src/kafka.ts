// What this package needs of a Kafka client. A `Kafka` of kafkajs fits. These types repeat a part of its own, so that the
// package can be built and used without it.

export type Headers = Record<string, Uint8Array | string | (Uint8Array | string)[] | undefined>;

export interface KafkaRecord {
  topic: string;
  partition: number;
  message: { value: Uint8Array | null; offset: string; headers?: Headers };
}

export interface OutgoingMessage {
  key: string;
  value: string;
  headers: Record<string, string>;
}

/** Chooses a partition: kafkajs' ICustomPartitioner. */
export type Partitioner = () => (record: {
  message: { key?: Uint8Array | string | null; partition?: number };
  partitionMetadata: { partitionId: number }[];
}) => number;

interface Connection {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

/** Where a batch of records stands: kafkajs' RecordMetadata. */
export interface Delivery {
  topicName: string;
  partition: number;
  /** The offset of the first record. Absent where the brokers reported none. */
  baseOffset?: string;
}

export interface Producer extends Connection {
  send(record: { topic: string; messages: OutgoingMessage[] }): Promise<Delivery[]>;
}

/** The consumer has joined its group, for the first time or again, and has these partitions. */
export interface GroupJoin {
  payload: { memberAssignment: Record<string, number[]> };
}

/** The consumer has stopped on an error. Where `restart` is false, kafkajs does not start it again. */
export interface ConsumerCrash {
  payload: { error: Error; restart: boolean };
}

export interface Consumer extends Connection {
  subscribe(subscription: { topics: string[]; fromBeginning: boolean }): Promise<void>;
  run(config: { autoCommit: boolean; eachMessage: (record: KafkaRecord) => Promise<void> }): Promise<void>;
  seek(position: { topic: string; partition: number; offset: string }): void;
  on(event: "consumer.group_join", listener: (event: GroupJoin) => void): unknown;
  on(event: "consumer.crash", listener: (event: ConsumerCrash) => void): unknown;
}

export interface Admin extends Connection {
  fetchTopicOffsets(topic: string): Promise<{ partition: number; high: string }[]>;
}

export interface Kafka {
  producer(config: { createPartitioner: Partitioner }): Producer;
  consumer(config: { groupId: string; maxWaitTimeInMs: number }): Consumer;
  admin(): Admin;
}
