"""Load and observation: requests in, outcomes out, committed offsets beside them."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from .brokers import Broker
from .recorder import Recorder


@dataclass(frozen=True)
class Topics:
    """The names of one run. They are new each time, so that a broker that goes on running can be used."""

    requests: str
    results: str
    errors: str
    dead: str
    fleet: str
    group: str

    @classmethod
    def named(cls, run: str) -> "Topics":
        return cls(
            f"{run}.requests", f"{run}.results", f"{run}.errors", f"{run}.dead-letters", f"{run}.fleet", f"{run}.group"
        )

    @property
    def kinds(self) -> dict[str, str]:
        return {self.results: "result", self.errors: "error", self.dead: "dead"}


def request(id: str, number: int = 0, **members) -> bytes:
    """A small search; `number` spreads the positions, so that no two are the same search. A member None is left out."""
    place = {
        "latitude": round(35.60 + number % 997 / 10_000, 6),
        "longitude": round(139.60 + number // 997 % 1999 / 10_000, 6),
    }
    body = {"requestId": id, "provider": "hotpepper", "location": place, "limit": 1, **members}
    return json.dumps(
        {k: v for k, v in body.items() if v is not None}, ensure_ascii=False, separators=(",", ":")
    ).encode()


class Sender:
    """Produces requests and records those that were acknowledged. One thread uses it at a time."""

    def __init__(self, broker: Broker, topics: Topics, partitions: int, recorder: Recorder, **properties):
        self.topic, self.partitions, self.recorder = topics.requests, partitions, recorder
        self.refused = 0  # These were not acknowledged; the requests topic may hold them or not.
        self.produced = 0
        self.clock_ahead_ms = 0  # Of the workers' wall clock, for timestamps.
        self.ended = False  # Makes `many` return.
        self._producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap,
                "acks": "all",
                "linger.ms": 5,
                "max.in.flight": 5,
                "queue.buffering.max.messages": 200_000,
                "log_level": 2,
                **properties,
            }
        )

    def send(
        self,
        id: str | None,
        value: bytes | None,
        key: str | bytes | None = None,
        partition: int | None = None,
        session: str | None = None,
        bad: bool = False,
        headers: list | None = None,
        timestamp_ms: int = 0,
        acknowledged=None,
    ) -> None:
        """Sends one record. `bad` says that it is no request, and `acknowledged` is called with its partition and
        offset. Without a partition, records go to all partitions in turn."""
        where = self.produced % self.partitions if partition is None else partition
        if self.clock_ahead_ms and not timestamp_ms:
            timestamp_ms = round(time.time() * 1000) + self.clock_ahead_ms
        self.produced += 1

        def delivered(error, message) -> None:
            if error:
                self.refused += 1
                return
            if acknowledged:
                acknowledged(message.partition(), message.offset())
            self.recorder.add(
                "sent",
                id=id,
                key=text(message.key()),
                p=message.partition(),
                o=message.offset(),
                **({"session": session} if session else {}),
                **({"bad": True} if bad else {}),
            )

        while True:
            try:
                self._producer.produce(
                    self.topic, value, key, where, on_delivery=delivered, timestamp=timestamp_ms, headers=headers
                )
                break
            except BufferError:
                self._producer.poll(0.05)
        if self.produced % 64 == 0:
            self._producer.poll(0)

    def many(
        self,
        count: int,
        rate: float = 0,
        prefix: str = "r",
        keys: int = 0,
        until=None,
        ahead: int = 0,
        place=None,
        **members,
    ) -> None:
        """Sends `count` requests at `rate` per second (0 means at once), or fewer once `until()` is true.

        The requests have so many `keys`, each in one partition; with 0, each request has its own, and `place(number)`
        says its partition. While more than `ahead`
        requests have no outcome, no further one is sent. `members` are those of the request; a function among them is
        called with the request's number.
        """
        began = time.monotonic()
        for i in range(count):
            if rate and (wait := began + i / rate - time.monotonic()) > 0:
                self._producer.poll(0)
                time.sleep(wait)
            while ahead and self.produced - self.recorder.finished > ahead:
                self._producer.poll(0.02)
            if self.ended or (until and until()):
                break
            own = {name: value(i) if callable(value) else value for name, value in members.items()}
            key = f"{prefix}k{i % keys}" if keys else f"{prefix}{i}"
            self.send(
                f"{prefix}{i}",
                request(f"{prefix}{i}", i, **own),
                key,
                i % keys % self.partitions if keys else place(i) if place else None,
            )
        self.flush()

    def start(self, *args, **options) -> threading.Thread:
        """Calls `many` on a thread of its own."""
        thread = threading.Thread(target=self.many, args=args, kwargs=options, daemon=True)
        thread.start()
        return thread

    def unacknowledged(self, within: float) -> int:
        """Waits for acknowledgements, and returns how many are still missing."""
        return self._producer.flush(within)

    def flush(self, within: float = 60) -> None:
        if left := self.unacknowledged(within):
            self.recorder.problem(f"{left} requests were not acknowledged within {within:g} s")


class Reader(threading.Thread):
    """Reads every outcome and dead letter from offset 0 on, while the run goes on."""

    NEEDED = (
        "ce_specversion",
        "ce_id",
        "ce_source",
        "ce_type",
        "ce_time",
        "content-type",
        "source-topic",
        "source-partition",
        "source-offset",
    )
    TYPES = {"result": "location-search.completed.v1", "error": "location-search.failed.v1"}

    def __init__(
        self,
        broker: Broker,
        topics: Topics,
        partitions: dict[str, int],
        recorder: Recorder,
        isolation: str = "read_uncommitted",
        record: bool = True,
    ):
        super().__init__(daemon=True)
        self.topics, self.recorder, self.record = topics, recorder, record
        self.on_outcome: Callable[[dict, Any, Any], None] | None = None  # Called with (event, value as read, message).
        self.exact_ends = broker.exact_ends
        self.gaps_are_loss = broker.drops_old  # On other brokers, a transaction's marker leaves a gap.
        # So does one that was aborted, also at the beginning, for a reader of committed records.
        self.begins_with_first = isolation == "read_uncommitted"
        self.read = 0
        self._next = {(t, p): 0 for t, n in partitions.items() for p in range(n)}
        self._stopped = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": topics.group + "-reader",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": broker.fetch_wait_ms,
                "isolation.level": isolation,
                "queued.max.messages.kbytes": 65536,
                "log_level": 2,
            }
        )
        self._consumer.assign([TopicPartition(t, p, 0) for t, p in self._next])

    def run(self) -> None:
        while not self._stopped.is_set():
            for message in self._consumer.consume(500, 0.05):
                if not message.error():
                    self._take(message)
        self._consumer.close()

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)

    def _take(self, message) -> None:
        at = (message.topic(), message.partition())
        is_loss = self.gaps_are_loss or (self._next[at] == 0 and self.begins_with_first)
        if message.offset() != self._next[at] and is_loss:
            self.recorder.problem(
                f"{at[0]}/{at[1]}: the broker dropped {message.offset() - self._next[at]} records before they were read"
            )
        self.read += 1
        self._next[at] = message.offset() + 1
        if any(name == "dead-letter-redriven" for name, _ in message.headers() or []):
            return  # This record is a note of what went back.
        event, value = self.outcome(message)
        if self.record:
            self.recorder.add("outcome", **event)
        if self.on_outcome:
            self.on_outcome(event, value, message)

    def outcome(self, message) -> tuple[dict, dict | None]:
        """Returns the event that stands for a record in the history, and the record's value."""
        kind = self.topics.kinds[message.topic()]
        headers = {name: (value or b"").decode("utf-8", "replace") for name, value in message.headers() or []}
        event: dict = {"kind": kind, "op": message.partition(), "oo": message.offset(), "key": text(message.key())}
        if not self.exact_ends:
            event["ts"] = message.timestamp()[1]
        value, faults = None, []
        try:
            event["p"], event["o"] = int(headers["source-partition"]), int(headers["source-offset"])
        except (KeyError, ValueError):
            faults.append("no source position")
        if kind != "dead":
            faults += [f"no header {name}" for name in self.NEEDED if not headers.get(name)]
            if headers.get("ce_type") != self.TYPES[kind]:
                faults.append(f"ce_type {headers.get('ce_type')} in the topic of {kind}s")
            try:
                value = json.loads(message.value())
                event["id"] = value["requestId"]
                event["code"] = value["error"]["code"] if kind == "error" else None
                event["a"] = value.get("timing", {}).get("attempts", 0)
                if kind == "result" and value["operation"] != "photo" and not isinstance(value["places"], list):
                    faults.append("no places")
            except (ValueError, KeyError, TypeError) as e:
                faults.append(f"no outcome event: {e!r}")
            event["ce"] = headers.get("ce_id")
        if headers.get("source-topic") != self.topics.requests:
            faults.append(f"source-topic {headers.get('source-topic')}")
        if faults:
            event["fault"] = "; ".join(faults)
        return event, value


class OffsetSampler(threading.Thread):
    """Reads what the group has committed, then where the outcome topics end, every half second."""

    def __init__(
        self,
        broker: Broker,
        topics: Topics,
        requests: int,
        outcomes: dict[str, int],
        recorder: Recorder,
        every: float = 0.5,
        record: bool = True,
    ):
        super().__init__(daemon=True)
        self.exact_ends, self.record = broker.exact_ends, record
        self.topics, self.requests, self.outcomes, self.recorder, self.every = (
            topics,
            requests,
            outcomes,
            recorder,
            every,
        )
        self.drops_old = broker.drops_old
        self.failed = 0  # The number of samples that the broker's faults spoilt.
        self.committed: dict[int, int] = {}
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        # It reads uncommitted records, so that it does not wait for what transactions have pending.
        self._client = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": topics.group,
                "enable.auto.commit": False,
                "isolation.level": "read_uncommitted",
                "log_level": 2,
            }
        )

    def run(self) -> None:
        while not self._stopped.wait(self.every):
            self.sample()

    def sample(self) -> bool:
        with self._lock:
            try:
                self._sample()
                return True
            except KafkaException:
                self.failed += 1
                return False

    def _sample(self) -> None:
        asked = [TopicPartition(self.topics.requests, p) for p in range(self.requests)]
        answers = self._client.committed(asked, 5)
        if any(a.error for a in answers):
            raise KafkaException(next(a.error for a in answers if a.error))
        committed = {a.partition: a.offset for a in answers if a.offset >= 0}
        if self.drops_old:
            self._check_dropped(committed)
        if self.exact_ends:
            after: dict[str, Any] = {
                "ends": {
                    self.topics.kinds[t]: {str(p): self._watermarks(t, p)[1] for p in range(n)}
                    for t, n in self.outcomes.items()
                }
            }
        else:
            after = {"wall": round(time.time() * 1000)}
        self.committed = committed
        if self.record:
            self.recorder.add("commit", committed={str(p): o for p, o in committed.items()}, **after)

    def _check_dropped(self, committed: dict[int, int]) -> None:
        for p in range(self.requests):
            low = self._watermarks(self.topics.requests, p)[0]
            if low > committed.get(p, 0):
                self.recorder.problem(
                    f"requests/{p}: the broker dropped records up to {low} that were not yet committed: "
                    "too much was waiting"
                )

    def _watermarks(self, topic: str, partition: int) -> tuple[int, int]:
        return self._client.get_watermark_offsets(TopicPartition(topic, partition), 5, cached=False)

    def lag(self) -> int:
        """Takes a sample and returns how many known requests are not below a committed offset."""
        self.sample()
        return sum(o >= self.committed.get(p, 0) for p, o in list(self.recorder.history.requests))

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)
        self._client.close()


def text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "replace")


def audit(broker: Broker, topics: Topics, partitions: int, recorder: Recorder, within: float = 60) -> int:
    """Adds the requests that lie in the log without having been acknowledged to us. Returns how many."""
    reader = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": topics.group + "-audit",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": broker.fetch_wait_ms,
            "log_level": 2,
        }
    )
    ends = {
        p: reader.get_watermark_offsets(TopicPartition(topics.requests, p), 10, cached=False)[1]
        for p in range(partitions)
    }
    reader.assign([TopicPartition(topics.requests, p, 0) for p in range(partitions) if ends[p]])
    left, found, deadline = {p: n for p, n in ends.items() if n}, 0, time.monotonic() + within
    while left and time.monotonic() < deadline:
        for m in reader.consume(1000, 0.1):
            if m.error():
                continue
            if (m.partition(), m.offset()) not in recorder.history.requests:
                found += 1
                recorder.add(
                    "sent",
                    id=json.loads(m.value())["requestId"],
                    key=text(m.key()),
                    p=m.partition(),
                    o=m.offset(),
                    found=True,
                )
            if m.offset() + 1 >= ends[m.partition()]:
                left.pop(m.partition(), None)
    reader.close()
    if left:
        recorder.problem("the requests topic could not be read to its end")
    return found
