"""Looks into transactions from outside: a TCP relay in front of a broker that reads what passes.

No broker that can be had here hides aborted records, so the outcome topics do not say what a `read_committed` consumer
would see. The relay does: it notes each transaction's records and offsets, and the broker's answer to its end.
Only requests of producers with a transactional id are noted. What Kafka's coordinators would refuse is refused
(`coordinator.py`); all else passes unchanged.
"""

import contextlib
import json
import socket
import struct
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from .coordinator import (
    ADD_OFFSETS,
    ADD_PARTITIONS,
    END_TXN,
    INIT_PRODUCER,
    OFFSET_FETCH,
    TXN_OFFSET_COMMIT,
    Coordinator,
)
from .recorder import Recorder
from .traffic import Topics

PRODUCE = 0
# From these versions on, Kafka's protocol has compact lengths and tagged fields.
FLEXIBLE_FROM = {
    PRODUCE: 9,
    OFFSET_FETCH: 6,
    INIT_PRODUCER: 2,
    ADD_PARTITIONS: 3,
    ADD_OFFSETS: 3,
    END_TXN: 3,
    TXN_OFFSET_COMMIT: 3,
}


class Fields:
    """Reads Kafka's wire types one after another."""

    def __init__(self, data: bytes, flexible: bool = False):
        self.data, self.at, self.flexible = data, 0, flexible

    def number(self, size: int) -> int:
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "big", signed=True)

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def zigzag(self) -> int:
        n = self.unsigned()
        return (n >> 1) ^ -(n & 1)

    def take(self, size: int) -> bytes | None:
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self) -> str | None:
        raw = self.take(self.unsigned() - 1 if self.flexible else self.number(2))
        return None if raw is None else raw.decode()

    def block(self) -> bytes | None:
        return self.take(self.unsigned() - 1 if self.flexible else self.number(4))

    def count(self) -> int:
        return max(0, self.unsigned() - 1 if self.flexible else self.number(4))

    def each(self, first):
        """Yields the first member of each structure in an array. The caller reads its other members before the next
        one.
        """
        for _ in range(self.count()):
            yield first()
            self.tags()

    def many(self, entry, tagged: bool = True) -> list:
        found = []
        for _ in range(self.count()):
            found.append(entry())
            if tagged:
                self.tags()
        return found

    def tags(self) -> None:
        if self.flexible:
            for _ in range(self.unsigned()):
                self.unsigned()
                self.take(self.unsigned())


@dataclass
class Transaction:
    id: str
    producer: tuple[int, int]
    # Headers, key and value of each record, by (topic, partition, first sequence number), so that a repeated request
    # counts once.
    batches: dict[tuple, list] = field(default_factory=dict)
    offsets: dict[int, int] = field(default_factory=dict)
    ended: str = "open"  # Later this is committed, aborted, or refused.

    @property
    def records(self) -> list[tuple]:
        return [(topic, *record) for (topic, _, _), batch in self.batches.items() for record in batch]

    def line(self) -> str:
        """Returns the transaction as JSON, without keys and values of its records."""
        records = [{"topic": topic, "headers": headers} for topic, headers, _, _ in self.records]
        offsets = [{"partition": p, "next": o} for p, o in sorted(self.offsets.items())]
        return json.dumps(
            {"id": self.id, "epoch": self.producer[1], "ended": self.ended, "records": records, "offsets": offsets}
        )


class Ledger:
    """The transactions that the relay saw, in the order in which they ended."""

    def __init__(self, file: Path | None = None) -> None:
        """Writes a line of JSON into `file` for each transaction that ended."""
        self.file = file
        self.open: dict[tuple[int, int], Transaction] = {}
        self.ended: list[Transaction] = []
        self.unread = 0  # Compressed batches cannot be read, so the worker must run without compression.
        self._lock = threading.Lock()

    def request(self, api: int, version: int, body: bytes) -> tuple | None:
        """Notes a request. For the end of a transaction, returns what `answer` must be called with."""
        kinds = {PRODUCE: self._produce, TXN_OFFSET_COMMIT: self._offsets, END_TXN: self._end}
        with self._lock:
            return kinds[api](Fields(body, version >= FLEXIBLE_FROM[api]), version) if api in kinds else None

    def answer(self, of: tuple, error: int) -> None:
        producer, commit = of
        with self._lock:
            if error and error not in (47, 48, 49, 90):  # Unless it is fenced or invalid, the producer asks again.
                return
            if transaction := self.open.pop(producer, None):
                transaction.ended = "refused" if error else "committed" if commit else "aborted"
                self.ended.append(transaction)
                if self.file:
                    with self.file.open("a") as f:
                        f.write(transaction.line() + "\n")

    def _of(self, id: str, producer: tuple[int, int]) -> Transaction:
        return self.open.setdefault(producer, Transaction(id, producer))

    def _produce(self, f: Fields, version: int) -> None:
        id = f.text()
        if id is None:
            return
        f.number(2), f.number(4)
        for _ in range(f.count()):
            topic = f.text()
            for _ in range(f.count()):
                partition, batch = f.number(4), f.block()
                f.tags()
                self._batch(id, topic or "", partition, Fields(batch or b""))
            f.tags()

    def _batch(self, id: str, topic: str, partition: int, f: Fields) -> None:
        f.take(8 + 4 + 4 + 1 + 4)
        compressed = f.number(2) & 7
        f.take(4 + 8 + 8)
        producer, sequence, count = (f.number(8), f.number(2)), f.number(4), f.number(4)
        if compressed:
            self.unread += 1
            return
        records = []
        for _ in range(count):
            f.zigzag(), f.take(1), f.zigzag(), f.zigzag()
            key, value = f.take(f.zigzag()), f.take(f.zigzag())
            headers = {
                (f.take(f.zigzag()) or b"").decode(): (f.take(f.zigzag()) or b"").decode("utf-8", "replace")
                for _ in range(f.zigzag())
            }
            records.append((headers, key, value))
        self._of(id, producer).batches[(topic, partition, sequence)] = records

    def _offsets(self, f: Fields, version: int) -> None:
        id, _ = f.text() or "", f.text()
        transaction = self._of(id, (f.number(8), f.number(2)))
        if version >= 3:
            f.number(4), f.text(), f.text()
        for _ in range(f.count()):
            f.text()
            for _ in range(f.count()):
                partition, offset = f.number(4), f.number(8)
                if version >= 2:
                    f.number(4)
                f.text(), f.tags()
                transaction.offsets[partition] = offset
            f.tags()

    def _end(self, f: Fields, version: int) -> tuple:
        f.text()
        return (f.number(8), f.number(2)), bool(f.number(1))

    # Judging

    def feed(self, recorder: Recorder, topics: Topics) -> None:
        """Adds the committed records to the history, as its outcomes."""
        serial = 0
        for transaction in self.ended:
            for topic, headers, key, value in transaction.records if transaction.ended == "committed" else ():
                kind, serial, body = topics.kinds[topic], serial + 1, json.loads(value) if topic != topics.dead else {}
                recorder.add(
                    "outcome",
                    kind=kind,
                    op=0,
                    oo=serial,
                    p=int(headers["source-partition"]),
                    o=int(headers["source-offset"]),
                    key=None if key is None else key.decode("utf-8", "replace"),
                    id=body.get("requestId"),
                    code=body.get("error", {}).get("code"),
                    ce=headers.get("ce_id"),
                )

    def faults(self) -> list[str]:
        """Checks that each committed transaction holds the outcomes of exactly the offsets that it moves past."""
        found = []
        reached: dict[int, int] = defaultdict(int)
        for n, t in enumerate(x for x in self.ended if x.ended == "committed"):
            held = defaultdict(set)
            for _, headers, _, _ in t.records:
                held[int(headers["source-partition"])].add(int(headers["source-offset"]))
            for p in sorted(set(held) | set(t.offsets)):
                due = set(range(reached[p], t.offsets.get(p, reached[p])))
                if held[p] != due:
                    found.append(
                        f"transaction {n} of {t.id}: partition {p} goes from {reached[p]} to "
                        f"{t.offsets.get(p)}, but it holds the outcomes of "
                        f"{len(held[p] - due)} other offsets and lacks {len(due - held[p])}"
                    )
                reached[p] = max(reached[p], t.offsets.get(p, 0))
        return found

    def summary(self) -> str:
        ends = [t.ended for t in self.ended] + ["open"] * len(self.open)
        sizes = [len(t.records) for t in self.ended if t.ended == "committed"] or [0]
        return (
            ", ".join(f"{ends.count(e)} {e}" for e in ("committed", "aborted", "refused", "open"))
            + f"; {sum(sizes) / len(sizes):.0f} records in a committed one, {max(sizes)} at most"
        )


class Relay:
    """Listens on a port of its own. Each connection has a pair of threads, which end with the broker's side of it."""

    def __init__(self, ledger: Ledger):
        self.ledger = ledger
        self.coordinator = Coordinator(aborted=lambda producer: ledger.answer((producer, False), 0))
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]

    def forward_to(self, port: int) -> None:
        threading.Thread(target=self._accept, args=(port,), daemon=True).start()
        self.coordinator.watch(port)

    def _accept(self, port: int) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return
            for s in (client, broker):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, client, broker)
            for pump in (connection.requests, connection.answers):
                threading.Thread(target=pump, daemon=True).start()

    def stop(self) -> None:
        self._listener.close()
        self.coordinator.stop()


class Connection:
    """A client's connection, and the relay's own connection to the broker on its behalf."""

    def __init__(self, relay: Relay, client: socket.socket, broker: socket.socket):
        self.ledger, self.coordinator, self.client, self.broker = relay.ledger, relay.coordinator, client, broker
        self._asked: dict[int, tuple] = {}  # What an answer means, by correlation id.
        self._answering = threading.Lock()

    def requests(self) -> None:
        with contextlib.suppress(OSError):
            for frame in self._frames(self.client):
                own, frame = self._request(frame)
                if own is None:
                    self.broker.sendall(frame)
                else:
                    self._to_client(struct.pack(">i", len(own)) + own)
        # The broker still answers what was asked, though nobody hears it: a transaction may end with such an answer.
        self._shut(self.broker, socket.SHUT_WR)

    def answers(self) -> None:
        with contextlib.suppress(OSError):
            for frame in self._frames(self.broker):
                answer = self._answer(frame)
                with contextlib.suppress(OSError):
                    self._to_client(answer)
        for s in (self.client, self.broker):
            self._shut(s, socket.SHUT_RDWR)

    def _to_client(self, frame: bytes) -> None:
        with self._answering:
            self.client.sendall(frame)

    @staticmethod
    def _shut(s: socket.socket, how: int) -> None:
        with contextlib.suppress(OSError):
            s.shutdown(how)

    @staticmethod
    def _frames(of: socket.socket):
        """Yields frames, each with its length before it, until that side is gone."""
        stream = of.makefile("rb")
        while len(head := stream.read(4)) == 4:
            yield head + stream.read(int.from_bytes(head, "big"))

    def _request(self, frame: bytes) -> tuple[bytes | None, bytes]:
        """Returns the answer to give in the broker's place, if there is one, and the frame to send to the broker
        otherwise.
        """
        f = Fields(frame[4:])
        api, version, correlation = f.number(2), f.number(2), f.number(4)
        if api not in FLEXIBLE_FROM:
            return None, frame
        f.text()  # The client's id, which has the old form in every header.
        f.flexible = version >= FLEXIBLE_FROM[api]
        f.tags()
        body = frame[4 + f.at :]
        of = self.coordinator.request(api, version, f)
        if isinstance(of, bytes):
            return struct.pack(">i", correlation) + (b"\0" + of + b"\0" if f.flexible else of), frame
        end = self.ledger.request(api, version, body)
        if of:
            self._asked[correlation] = (of, end, f.flexible)
            if of[0] == INIT_PRODUCER and of[2]:
                frame = changed(frame, [of[2]])
        return None, frame

    def _answer(self, frame: bytes) -> bytes:
        f = Fields(frame[4:])
        if (known := self._asked.pop(f.number(4), None)) is None:
            return frame
        of, end, f.flexible = known
        f.tags()
        at = f.at
        changes = self.coordinator.answer(of, f)
        if end:
            f.at = at
            f.number(4)
            self.ledger.answer(end, f.number(2))
        return changed(frame, changes)


def changed(frame: bytes, changes: list[tuple[int, bytes]]) -> bytes:
    """Returns the frame with other bytes at these positions, which count from behind its length."""
    for at, other in changes:
        frame = frame[: 4 + at] + other + frame[4 + at + len(other) :]
    return frame
