"""Gives confluent-kafka to a test in another language: a call is a line of JSON on standard input, its answer and each
record is one on standard output. It ends with its standard input.
"""

import base64
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "reconnect.backoff.max.ms": 500, "log_level": 0}
producer = Producer({**servers, "linger.ms": 0})
consumer = Consumer({**servers, "group.id": "unused", "enable.auto.commit": False, "fetch.wait.max.ms": 10})
positions: dict[tuple[str, int], int] = {}  # the next offset to read of each partition


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def connect() -> None:
    consumer.list_topics(timeout=2)


def partitions(topic: str) -> list[int]:
    return sorted(consumer.list_topics(topic, timeout=10).topics[topic].partitions)


def ends(topic: str) -> list[dict[str, Any]]:
    found = [(number, TopicPartition(topic, number)) for number in partitions(topic)]
    offsets = [(number, consumer.get_watermark_offsets(partition, timeout=10)) for number, partition in found]
    return [{"partition": number, "low": str(low), "high": str(high)} for number, (low, high) in offsets]


def send(topic: str, partition: int, key: str, value: str, headers: dict[str, str]) -> dict[str, Any]:
    written: list[Message] = []
    producer.produce(
        topic,
        value.encode(),
        key.encode(),
        partition,
        headers=dict(headers),
        on_delivery=lambda error, message: None if error else written.append(message),
    )
    if producer.flush(10) or not written:
        raise TimeoutError("the broker did not take the record")
    return {"topicName": topic, "partition": partition, "baseOffset": str(written[0].offset())}


def read(topic: str, partition: int, offset: str) -> None:
    """Reads a partition from an offset. All consumers share one reader, which only goes back."""
    known, wanted = positions.get((topic, partition)), int(offset)
    if known is not None and known <= wanted:
        return

    positions[topic, partition] = wanted
    position = TopicPartition(topic, partition, wanted)
    if known is None:
        consumer.incremental_assign([position])
    else:
        consumer.seek(position)


def record(message: Message) -> dict[str, Any]:
    value, headers = message.value(), dict(message.headers() or {})
    text = {name: content.decode() if isinstance(content, bytes) else content for name, content in headers.items()}
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": str(message.offset()),
        "value": None if value is None else base64.b64encode(value).decode(),
        "headers": text,
    }


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "connect": connect,
    "partitions": partitions,
    "ends": ends,
    "send": send,
    "read": read,
}
calls: queue.SimpleQueue[str | None] = queue.SimpleQueue()


def listen() -> None:
    for line in sys.stdin:
        calls.put(line)
    calls.put(None)


def answer(line: str) -> None:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": FUNCTIONS[call["call"]](**call["arguments"])})
    except Exception as error:
        say({"id": call["id"], "error": repr(error)})


# One thread uses the consumer, because its calls wait for each other.
threading.Thread(target=listen, daemon=True).start()
while True:
    while not calls.empty():
        if (line := calls.get()) is None:
            sys.exit()
        answer(line)
    message = consumer.poll(0.01)
    if message and not message.error():
        positions[message.topic() or "", message.partition() or 0] = (message.offset() or 0) + 1
        say({"record": record(message)})
