"""The texts beside a group's committed offsets, which any client of the group may write, and tools copy."""

import random
import re
import time
from typing import Any

from harness.conformance import PASSING, Cluster
from harness.provider import Provider
from harness.traffic import request

from .engine import Wrong
from .kafka import KafkaSurface
from .mutation import Mutator

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
SCRAPS = (";", "=", ":", "+", "\0", "at=", "é", "\u0301", " ", "locsearch1", "locsearch2;")


def may_count(made: dict) -> bool:
    """Returns false for a text that names another offset than the one beside which it stands, or none."""
    text = made["text"].split("\0")[0]
    if not text.isascii():  # What ends a field is a matter of Unicode then.
        return True
    names = [field[3:] for field in text.split(";") if field.startswith("at=")]
    return len(names) == 1 and bool(re.fullmatch("[+-]?[0-9]+", names[0])) and int(names[0]) == made["offset"]


class Offsets(KafkaSurface):
    """Each text stands beside an offset of a partition of its own when a worker takes them all over. Where it does not
    name that offset, it must count for nothing: each request from there on has its outcome.
    """

    name = "offsets"
    about = "texts beside committed offsets -> worker that begins there, offsets show, offsets reset"
    batch = 300
    restarts = 20
    sets_aside = True
    RECORDS = 4
    SETTLING_S = 90  # Records that former owners may have crashed with run one by one.

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        offset = chance.randrange(self.RECORDS)
        fields = ["locsearch1", f"at={mutate.number() if mutate.often(0.3) else offset}"]
        fields += [self.field(mutate, chance) for _ in range(chance.randrange(5))]
        if mutate.often(0.05):
            chance.shuffle(fields)
        text = ";".join(fields)
        while mutate.often(0.15):
            place = chance.randrange(len(text) + 1)
            kind = chance.randrange(3)
            if kind == 0:
                text = text[:place] + mutate.pick(SCRAPS) + text[place:]
            elif kind == 1:
                text = text[:place] + text[place + chance.randrange(9) :]
            else:
                text = mutate.spoil(text.encode()).decode(errors="replace")
        return {"offset": offset, "text": text.encode()[:4096].decode(errors="ignore")}

    def field(self, mutate: Mutator, chance: random.Random) -> str:
        def number() -> str:
            return mutate.number() if mutate.often(0.3) else str(chance.randrange(6))

        def data(most: int) -> str:
            return "".join(chance.choices(DIGITS, k=chance.randrange(most)))

        return mutate.pick(
            (
                lambda: f"tries={number()}",
                lambda: f"begun={number()}",
                lambda: "running=" + "+".join(number() for _ in range(chance.randrange(1, 6))),
                lambda: f"{mutate.pick(('alone', 'suspect'))}={number()}:{number()}",
                lambda: f"runs={data(8)}",
                lambda: f"bits={data(8)}",
                lambda: f"later={data(8)}",
            )
        )()

    def start(self) -> None:
        self.start_broker()
        self.provider = Provider.start(self.processes, self.locsearch)
        self.provider.latency(1)
        self.watched["provider"] = self.processes.all[-1]
        self.consumer = self.read([self.topics.results, self.topics.errors])
        self.cluster = Cluster(self.broker.bootstrap)

    def stop(self) -> None:
        if getattr(self, "cluster", None):
            self.cluster.close()
        super().stop()

    def feed(self, inputs: list[dict]) -> None:
        self.batches += 1
        self.end("worker")
        requests, group = f"{self.topics.requests}-{self.batches}", f"{self.topics.group}-{self.batches}"
        self.names: dict[str, Any] = {"topics__requests": requests, "kafka__groupId": group}
        # The last partition has no text, and none of the others' texts may keep it from being read.
        self.broker.create_topics({requests: len(inputs) + 1})
        for partition in range(len(inputs) + 1):
            for number in range(self.RECORDS):
                self.produce(requests, request(f"r{partition}-{number}", partition), partition=partition)
        self.producer.flush(20)
        for partition, made in enumerate(inputs):
            self.commit(group, requests, partition, made)

        for command in (
            ["offsets", "show"],
            ["offsets", "show", "--json"],
            ["offsets", "reset", "--to=1h", "--dry-run"],
        ):
            self.tool(command, allowed=(0, 1), **self.names)
        self.start_worker(**self.names)
        self.await_outcomes(inputs)

    def commit(self, group: str, topic: str, partition: int, made: dict) -> None:
        step = {"do": "offsetCommit", "group": group, "topic": topic, "partition": partition}
        end = time.monotonic() + 10
        while (
            answer := self.cluster.ask(step | {"offset": made["offset"], "metadata": made["text"]})["error"]
        ) in PASSING:
            if time.monotonic() > end:
                break
        if answer != "NONE":
            raise Wrong(f"the broker refuses a text: {answer}", [made])

    def await_outcomes(self, inputs: list[dict]) -> None:
        due: dict = {(len(inputs), offset): None for offset in range(self.RECORDS)}
        for partition, made in enumerate(inputs):
            if not may_count(made):
                due |= {(partition, offset): made for offset in range(made["offset"], self.RECORDS)}
        self.wait(
            lambda: (self.outcomes(due), not due)[1],
            "outcome of a request beside whose offset no text counts",
            lambda: [made for made in due.values() if made],
            limit=self.SETTLING_S,
        )

    def probe(self) -> None:
        self.wait(
            lambda: self.get(self.admin, "/livez") == 200 and self.get(self.admin, "/status") == 200,
            "answer of /livez or /status",
        )
