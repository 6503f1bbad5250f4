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

servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]}
producer = Producer({**servers, "linger.ms": 0})
consumer = Consumer({**servers, "group.id": "unused", "enable.auto.commit": False, "fetch.wait.max.ms": 10})


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def partitions(topic: str) -> list[int]:
    return sorted(consumer.list_topics(topic, timeout=10).topics[topic].partitions)


def ends(topic: str) -> list[dict[str, Any]]:
    found = [(number, TopicPartition(topic, number)) for number in partitions(topic)]
    offsets = [(number, consumer.get_watermark_offsets(partition, timeout=10)) for number, partition in found]
    return [{"partition": number, "low": str(low), "high": str(high)} for number, (low, high) in offsets]


def send(topic: str, partition: int, key: str, value: str, headers: dict[str, str]) -> None:
    producer.produce(topic, value.encode(), key.encode(), partition, headers=dict(headers))
    if producer.flush(10):
        raise TimeoutError("the broker did not take the record")


def read(topic: str, partition: int, offset: str) -> None:
    """Begins to read a partition, unless it is read already."""
    position = TopicPartition(topic, partition, int(offset))
    if position not in consumer.assignment():
        consumer.incremental_assign([position])


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


FUNCTIONS: dict[str, Callable[..., Any]] = {"partitions": partitions, "ends": ends, "send": send, "read": read}
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
        say({"record": record(message)})
