"""Sends a search and follows its outcome, with confluent-kafka and the CloudEvents SDK.

KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python Examples/python/search.py
"""

import os
import sys
import time
import uuid

from cloudevents.core.bindings.kafka import KafkaMessage, from_binary, to_binary
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
OUTCOMES = ("location-search.results", "location-search.errors")


def read_from_the_ends() -> Consumer:
    """Reads all partitions of both topics, as a service does that waits for outcomes of its own. It joins no group."""
    consumer = Consumer({"bootstrap.servers": SERVERS, "group.id": "unused", "enable.auto.commit": False})
    topics = consumer.list_topics(timeout=10).topics
    partitions = [TopicPartition(topic, number) for topic in OUTCOMES for number in topics[topic].partitions]
    for partition in partitions:
        _, partition.offset = consumer.get_watermark_offsets(partition, timeout=10)
    consumer.assign(partitions)
    return consumer


def send(data: dict) -> None:
    attributes = {
        "type": "location-search.requested.v1",
        "source": "/examples/python",
        "datacontenttype": "application/json",
    }
    event = CloudEvent(attributes, data)
    # The key keeps the requests of a session in order.
    message = to_binary(event, JSONFormat(), key_mapper=lambda event: event.get_data()["sessionId"])
    # Without the partitioner of Java's clients, the same key would go to another partition than theirs.
    producer = Producer({"bootstrap.servers": SERVERS, "partitioner": "murmur2_random"})
    producer.produce("location-search.requests", message.value, message.key, headers=list(message.headers.items()))
    if producer.flush(10):
        raise TimeoutError("the broker did not take the request within 10 s")


def outcome(consumer: Consumer, request_id: str, within: float) -> CloudEvent:
    """After a crash of a worker a request may have a second outcome; the first one is good enough here."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if (record := consumer.poll(0.5)) is None:
            continue
        if record.error():
            raise KafkaException(record.error())
        event = from_binary(KafkaMessage(dict(record.headers() or []), record.key(), record.value()), JSONFormat())
        if event.get_data()["requestId"] == request_id:
            return event
    raise TimeoutError(f"no outcome within {within} s")


def main() -> int:
    consumer = read_from_the_ends()
    request_id = str(uuid.uuid4())
    send(
        {
            "requestId": request_id,
            "sessionId": "a-session",
            "location": {"latitude": 35.690921, "longitude": 139.700258},
        }
    )
    event = outcome(consumer, request_id, within=30)
    consumer.close()

    data = event.get_data()
    if event.get_type() == "location-search.failed.v1":
        print(data["error"]["code"], data["error"]["message"])
        return 1
    for place in data["places"]:
        print(place["name"], place.get("address", ""))
    print(len(data["places"]), "places from", data["provider"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
