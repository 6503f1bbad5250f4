"""The relay in front of Tansu does here what Kafka's coordinators do and Tansu's do not. Without it no worker could
keep exactly-once.

- Offsets of a process that is no member of the group any more are refused (KIP-447), so that a worker that was frozen
  cannot commit for partitions that others have by then. A heartbeat asks Tansu whether it still is a member.
- Offsets in a transaction that has not ended are not given out (`require_stable`): the next owner of the partition
waits. - Offsets of a transaction that was committed are given out. Tansu holds them back while an older transaction is
open. - A transaction that outlives its `transaction.timeout.ms` is aborted and its producer fenced. Tansu keeps it
open. - A producer may ask for its next epoch (KIP-360), as librdkafka does after some aborts. Tansu refuses this, so
the relay
  asks as a new producer would, once it is clear that nobody else has taken the id.
"""

import socket
import struct
import threading
import time

OFFSET_FETCH, HEARTBEAT, INIT_PRODUCER, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, TXN_OFFSET_COMMIT = (
    9,
    12,
    22,
    24,
    25,
    26,
    28,
)
ILLEGAL_GENERATION, UNKNOWN_MEMBER, UNSTABLE_OFFSET_COMMIT, PRODUCER_FENCED = 22, 25, 88, 90
DEFAULT_TIMEOUT = 60.0
ANSWER_TIMEOUT = 10.0

Producer = tuple[int, int]  # id and epoch


class Coordinator:
    """Judges each request before it goes on to the broker, and learns from the answers. Safe from any thread."""

    def __init__(self, aborted):
        """Calls `aborted` with each producer whose transaction has timed out, or whose successor has begun."""
        self.aborted = aborted
        self.port = 0
        self.pending: dict[
            tuple[str, str, int], tuple[Producer, int]
        ] = {}  # By group, topic and partition: offsets in an open transaction.
        self.committed: dict[tuple[str, str, int], int] = {}
        self.newest: dict[str, Producer] = {}  # By transactional id.
        self.begun: dict[Producer, tuple[str, float]] = {}  # The transactional id, and when the transaction times out.
        self.fenced: set[Producer] = set()
        self._timeouts: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def watch(self, port: int) -> None:
        """Begins to abort transactions that take too long, at the broker on `port`."""
        self.port = port
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def request(self, api: int, version: int, f) -> bytes | tuple | None:
        """Judges a request by its body `f`.

        Returns bytes to answer in the broker's place, a tuple to be given to `answer` together with what the broker
        says, or None to let the request pass.
        """
        if api == TXN_OFFSET_COMMIT and version >= 3:
            return self._commit_offsets(f)
        with self._lock:
            if api == INIT_PRODUCER:
                return self._init(f, version)
            if api == ADD_PARTITIONS:
                self._begins(f)
            elif api == ADD_OFFSETS:
                return self._add_offsets(f)
            elif api == END_TXN:
                return self._end(f)
            elif api == OFFSET_FETCH and version >= 8:
                return self._fetch_offsets(f, version)
        return None

    def answer(self, of: tuple, f) -> list[tuple[int, bytes]]:
        """Learns from an answer, of which `f` is what follows its header. Returns (position, bytes) for each place in
        the answer that must say something else."""
        f.number(4)
        with self._lock:
            if of[0] == OFFSET_FETCH:
                return self._newer_offsets(f)
            if f.number(2):
                return []
            if of[0] == END_TXN:
                self._forget(producer=of[1], commits=of[2])
            else:
                self.newest[of[1]] = (f.number(8), f.number(2))
                for former in [p for p, (id, _) in self.begun.items() if id == of[1]]:
                    self._forget(former)
                    self.aborted(former)
        return []

    def _init(self, f, version: int) -> bytes | tuple | None:
        if (id := f.text()) is None:
            return None
        self._timeouts[id] = f.number(4) / 1000
        at, producer = f.at, (f.number(8), f.number(2)) if version >= 3 else (-1, -1)
        if producer[0] >= 0 and (producer in self.fenced or self.newest.get(id, producer) != producer):
            return struct.pack(">ihqh", 0, PRODUCER_FENCED, -1, -1)
        return (INIT_PRODUCER, id, (at, struct.pack(">qh", -1, -1)) if producer[0] >= 0 else None)

    def _begins(self, f) -> Producer:
        id, producer = f.text(), (f.number(8), f.number(2))
        if producer not in self.fenced:
            self.begun.setdefault(producer, (id, time.monotonic() + self._timeouts.get(id, DEFAULT_TIMEOUT)))
        return producer

    def _forget(self, producer: Producer, commits: bool = False) -> None:
        self.begun.pop(producer, None)
        for at in [at for at, (of, _) in self.pending.items() if of == producer]:
            offset = self.pending.pop(at)[1]
            if commits:
                self.committed[at] = offset

    def _add_offsets(self, f) -> bytes | None:
        return struct.pack(">ih", 0, PRODUCER_FENCED) if self._begins(f) in self.fenced else None

    def _end(self, f) -> bytes | tuple:
        id, producer, commits = f.text(), (f.number(8), f.number(2)), bool(f.number(1))
        if producer in self.fenced:
            return struct.pack(">ih", 0, PRODUCER_FENCED)
        # An end that is never answered must time out too, because nobody else would ever end this transaction.
        self.begun[producer] = (id, time.monotonic() + ANSWER_TIMEOUT)
        return (END_TXN, producer, commits)

    def _commit_offsets(self, f) -> bytes | None:
        _, group, producer, generation, member = f.text(), f.text(), (f.number(8), f.number(2)), f.number(4), f.text()
        f.text()
        asked = [(topic, f.many(lambda: (f.number(4), f.number(8), f.number(4), f.text()))) for topic in f.each(f.text)]
        with self._lock:
            offsets = {
                (group, topic, p): (producer, offset) for topic, partitions in asked for p, offset, *_ in partitions
            }
            others = {at: self.pending[at] for at in offsets if at in self.pending}
            # The offsets are pending before Tansu is asked. Should the member lose its partitions from now on, their
            # next owner will wait for them.
            self.pending |= offsets
        error = (
            PRODUCER_FENCED if producer in self.fenced else self._heartbeat(group, generation, member) if member else 0
        )
        if error not in (ILLEGAL_GENERATION, UNKNOWN_MEMBER, PRODUCER_FENCED):
            return None
        with self._lock:
            for at in [at for at, of in offsets.items() if self.pending.get(at) == of]:
                del self.pending[at]
            self.pending |= {at: of for at, of in others.items() if of[0] in self.begun and at not in self.pending}
        answers = [
            compact(topic) + array([struct.pack(">ihB", p, error, 0) for p, *_ in partitions]) + b"\0"
            for topic, partitions in asked
        ]
        return struct.pack(">i", 0) + array(answers)

    def _heartbeat(self, group: str, generation: int, member: str) -> int:
        """Returns the error code that Tansu answers a heartbeat with."""
        answer = self._ask(
            struct.pack(">hhih", HEARTBEAT, 3, 0, -1)
            + plain(group)
            + struct.pack(">i", generation)
            + plain(member)
            + struct.pack(">h", -1)
        )
        return int.from_bytes(answer[8:10], "big", signed=True) if answer else 0

    def _fetch_offsets(self, f, version: int) -> bytes | tuple:
        groups = []
        for group in f.each(f.text):
            if version >= 9:
                f.text(), f.number(4)
            groups.append((group, [(topic, f.many(lambda: f.number(4), tagged=False)) for topic in f.each(f.text)]))
        if not f.number(1) or not any(
            (group, topic, p) in self.pending
            for group, topics in groups
            for topic, partitions in topics
            for p in partitions
        ):
            return (OFFSET_FETCH,)
        answers = []
        for group, topics in groups:
            rows = [
                compact(topic)
                + array([struct.pack(">iqiBhB", p, -1, -1, 1, UNSTABLE_OFFSET_COMMIT, 0) for p in partitions])
                + b"\0"
                for topic, partitions in topics
            ]
            answers.append(compact(group) + array(rows) + struct.pack(">hB", 0, 0))
        return struct.pack(">i", 0) + array(answers)

    def _newer_offsets(self, f) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []

        def partition() -> None:
            p, at, offset = f.number(4), f.at, f.number(8)
            f.number(4), f.text(), f.number(2)
            if (known := self.committed.get((group, topic, p), -1)) > offset:
                found.append((at, struct.pack(">q", known)))

        for group in f.each(f.text):  # noqa: B007  partition() looks at both
            for topic in f.each(f.text):  # noqa: B007
                f.many(partition)
            f.number(2)
        return found

    def _watch(self) -> None:
        while not self._stopped.wait(0.2):
            with self._lock:
                overdue = [(producer, id) for producer, (id, end) in self.begun.items() if time.monotonic() > end]
                self.fenced |= {producer for producer, _ in overdue}
            for producer, id in overdue:
                if self._ask(struct.pack(">hhih", END_TXN, 1, 0, -1) + plain(id) + struct.pack(">qhB", *producer, 0)):
                    with self._lock:
                        self._forget(producer)
                    self.aborted(producer)

    def _ask(self, request: bytes) -> bytes:
        """Returns Tansu's answer to a request of the relay's own, or no bytes when there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as s:
                s.settimeout(5)
                s.sendall(struct.pack(">i", len(request)) + request)
                stream = s.makefile("rb")
                return stream.read(int.from_bytes(stream.read(4), "big"))
        except OSError:
            return b""


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def plain(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()


def compact(text: str) -> bytes:
    return varint(len(text.encode()) + 1) + text.encode()


def array(entries: list[bytes]) -> bytes:
    return varint(len(entries) + 1) + b"".join(entries)
