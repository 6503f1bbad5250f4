"""What the scenarios need: brokers that obey, a worker, and programs that use a client package."""

import json
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition
from harness.brokers import MockBroker
from harness.processes import Processes
from harness.service import start_worker

HERE = Path(__file__).resolve().parent
COMMANDS = {
    "python": [sys.executable, str(HERE / "python_program.py")],
    "typescript": ["node", str(HERE.parent / "dist/package/test/support/program.mjs")],
}
REQUESTS, OUTCOMES = "location-search.requests", ("location-search.results", "location-search.errors")
UNREAD = "unread.requests"  # no worker reads this topic
# One call for each request and no breaker, so that the fault of one scenario does not reach the next.
SETTINGS = {
    f"PROVIDERS_{provider}_{name}": value
    for provider in ("HOTPEPPER", "GOOGLE_PLACES")
    for name, value in {"MAX_ATTEMPTS": "1", "BREAKER_ENABLED": "false"}.items()
}
WITHIN = 30  # seconds for one answer


class Service:
    """Three brokers, the provider simulator and a worker."""

    def __init__(self, program: str, logs: Path):
        self.processes = Processes(logs)
        self.broker = MockBroker(self.processes, program, brokers=3)
        self.broker.create_topics({UNREAD: 3})
        start_worker(
            program,
            self.processes,
            self.broker.bootstrap,
            GOOGLE_PLACES_API_KEY="any-text",
            LOG_LEVEL="warning",
            **SETTINGS,
        )
        self.inspector = Consumer(
            {"bootstrap.servers": self.broker.bootstrap, "group.id": "unused", "enable.auto.commit": False}
        )

    def end(self) -> None:
        self.inspector.close()
        for process in self.processes.all:
            process.kill()  # nothing is to be kept
        self.processes.end_all()

    def partitions(self, topic: str) -> list[TopicPartition]:
        numbers = self.inspector.list_topics(topic, timeout=WITHIN).topics[topic].partitions
        return [TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers]

    def ends(self, topic: str) -> dict[int, int]:
        return {
            each.partition: self.inspector.get_watermark_offsets(each, WITHIN)[1] for each in self.partitions(topic)
        }

    def records(self, key: str, topic: str = REQUESTS) -> list[Message]:
        """Returns all records of a key, in their order within their partition."""
        missing = sum(self.ends(topic).values())
        self.inspector.assign(self.partitions(topic))
        found = []
        while missing > 0:
            record = self.inspector.poll(WITHIN)
            assert record is not None, f"{missing} records of {topic} cannot be read"
            if not record.error():
                found.append(record)
                missing -= 1
        self.inspector.unassign()
        return [record for record in found if record.key() == key.encode()]

    def move_leaders(self) -> None:
        """Gives each partition of the topics another leader."""
        for topic in (REQUESTS, *OUTCOMES):
            for number, partition in self.inspector.list_topics(topic, timeout=WITHIN).topics[topic].partitions.items():
                self.broker.tell(leader={"topic": topic, "partition": number, "broker": partition.leader % 3 + 1})


class Program:
    """A process that uses a client package."""

    def __init__(self, package: str, service: Service):
        self.package, self.service = package, service
        self.process = service.processes.start(
            f"{package}-program", COMMANDS[package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.calls: dict[int, Future[dict[str, Any]]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            answer = json.loads(line)
            self.calls[answer["id"]].set_result(answer)

    def call(self, call: str, **parameters: Any) -> Future[dict[str, Any]]:
        """Calls a function of the program, and returns the future of its answer."""
        id, future = len(self.calls), Future[dict[str, Any]]()
        self.calls[id] = future
        self.process.stdin.write(json.dumps({"id": id, "call": call, **parameters}) + "\n")
        self.process.stdin.flush()
        return future

    def ask(self, call: str, **parameters: Any) -> dict[str, Any]:
        return self.call(call, **parameters).result(WITHIN)

    def open(self, source: str = "/conformance", **options: Any) -> "Program":
        answer = self.ask("open", servers=self.service.broker.bootstrap, source=source, **options)
        assert "ended" not in answer, answer
        return self

    def send(self, within: float = WITHIN - 5, **members: Any) -> Future[dict[str, Any]]:
        """Sends a request: a search, unless its members say otherwise."""
        place = {"location": {"latitude": 35.690921, "longitude": 139.700258}}
        request = {"provider": "hotpepper", **({} if "operation" in members else place), **members}
        return self.call("send", request=request, within=within)

    def search(self, **members: Any) -> dict[str, Any]:
        return self.send(**members).result(WITHIN)

    def wait_for_sends(self, count: int) -> None:
        """Waits until so many records have been handed to the producer."""
        deadline = time.monotonic() + WITHIN
        while self.ask("observe")["sends"] < count:
            assert time.monotonic() < deadline, f"{count} sends were expected"

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


def position(record: Message) -> str:
    return f"{record.topic()}-{record.partition()}-{record.offset()}"


def header(record: Message, name: str) -> str:
    content = dict(record.headers() or [])[name]
    return content.decode() if isinstance(content, bytes) else content or ""


def new_id(name: str) -> str:
    return f"{name}-{uuid.uuid4()}"
