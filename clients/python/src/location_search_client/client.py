"""A client that sends requests and waits for their outcomes, on top of confluent-kafka."""

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, Producer, TopicPartition

from location_search_client.events import ERRORS_TOPIC, REQUESTS_TOPIC, RESULTS_TOPIC, Request
from location_search_client.records import Failed, Outcome, decode_outcome, encode_request

log = logging.getLogger(__name__)

# The producer chooses partitions as Kafka's Java clients, the workers and their tools do. CRC32, librdkafka's default,
# would put a session's key into another partition than theirs.
PRODUCER = {"partitioner": "murmur2_random", "enable.idempotence": True, "linger.ms": 0}
# The consumer joins no group, so the name of its group is never used.
CONSUMER = {"group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "earliest"}


class OutcomeTimeout(TimeoutError):
    """No outcome arrived in time. The request has expired, so a worker that reads it later asks no provider."""


class Superseded(Exception):
    """A newer search of the same session was sent, so nobody needs this outcome any more."""


class ClientClosed(Exception):
    """The client was closed, or its connection failed for good, before the outcome arrived."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of the topics, for workers whose settings `topics.*` are not the default."""

    requests: str = REQUESTS_TOPIC
    results: str = RESULTS_TOPIC
    errors: str = ERRORS_TOPIC


class SearchClient:
    """Sends requests, and gives each its outcome. All methods may be called from any thread.

    It reads every outcome that is written while it is open, and keeps those of its own requests. So each process needs
    one client for its whole life, not one for each request.

        with SearchClient("localhost:9092", source="/shop") as client:
            outcome = client.search({"location": {"latitude": 35.690921, "longitude": 139.700258}})
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        source: str,
        topics: Topics = Topics(),
        settings: Mapping[str, Any] | None = None,
        connect_timeout: float = 10,
    ):
        """Connects, and finds out where the outcome topics end, so that no outcome is missed from here on.

        - source: the URI of your program, for `ce_source` of its requests.
        - settings: further settings of librdkafka, such as `security.protocol`.
        - connect_timeout: seconds for each question to the brokers.

        Raises KafkaException when no broker answers, and LookupError when a topic does not exist.
        """
        common = {"bootstrap.servers": bootstrap_servers, **(settings or {})}
        self._source, self._topics = source, topics
        self._producer = Producer({**PRODUCER, **common})
        self._consumer = Consumer({**CONSUMER, **common})
        self._connect_timeout = connect_timeout

        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[int, Future[Outcome]]] = {}
        self._deadlines: list[tuple[float, int, str]] = []
        self._numbers = itertools.count()  # tell a request that is sent once more from its first sending
        self._newest: dict[str, str] = {}  # the session's newest search under way, by request id
        self._closed = threading.Event()

        try:
            self._assign(self._partitions(), from_end=True)
        except BaseException:
            self._consumer.close()
            raise
        self._reader = threading.Thread(target=self._read, name="location-search-client", daemon=True)
        self._reader.start()

    def search(self, request: Request, *, within: float = 30) -> Outcome:
        """Sends a request and waits for its outcome: `send(...).result()`."""
        return self.send(request, within=within).result()

    def send(
        self, request: Request, *, within: float = 30, headers: Mapping[str, str] | None = None
    ) -> Future[Outcome]:
        """Sends a request, and returns the future of its outcome at once.

        A search with a `sessionId` supersedes the session's older search, whose future then raises Superseded.

        - within: seconds until the future raises OutcomeTimeout. The request expires at the same time.
        - headers: further headers, such as `traceparent`.

        Asynchronous programs wait for the outcome with `await asyncio.wrap_future(client.send(...))`. Raises ValueError
        when this `requestId` is under way already.
        """
        expires = datetime.now(UTC) + timedelta(seconds=within)
        record = encode_request(request, source=self._source, expires=expires, headers=headers)
        outcome = self.expect(record.request_id, within=within)
        if (session := request.get("sessionId")) and request.get("operation") in ("search", None):
            self._supersede(session, record.request_id, outcome)

        def delivered(error: Any, _: Message) -> None:
            if error:
                self._end(record.request_id, KafkaException(error))

        try:
            self._producer.produce(
                self._topics.requests, record.value, record.key, headers=[*record.headers], on_delivery=delivered
            )
        except (BufferError, KafkaException) as error:
            self._end(record.request_id, error)
        return outcome

    def expect(self, request_id: str, *, within: float = 30) -> Future[Outcome]:
        """Returns the future of the outcome of a request that another program sends.

        Call this before that program sends it, because outcomes that nobody waits for are not kept.
        """
        future: Future[Outcome] = Future()
        with self._lock:
            if self._closed.is_set():
                raise ClientClosed("the client is closed")
            if request_id in self._waiting:
                raise ValueError(f"the request {request_id} is under way already")
            number = next(self._numbers)
            self._waiting[request_id] = (number, future)
            heapq.heappush(self._deadlines, (time.monotonic() + within, number, request_id))
        return future

    def close(self) -> None:
        """Sends what is not sent yet, for up to 10 s, and ends all futures with ClientClosed."""
        self._producer.flush(10)
        self._closed.set()
        self._reader.join()

    def __enter__(self) -> "SearchClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The futures

    def _end(self, request_id: str, outcome: Outcome | Exception) -> None:
        """Ends a request's future. Second copies of an outcome find no future any more."""
        with self._lock:
            _, future = self._waiting.pop(request_id, (0, None))
        if future is None or not future.set_running_or_notify_cancel():
            return

        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        elif isinstance(outcome, Failed) and outcome.failure["code"] == "superseded":
            future.set_exception(Superseded(outcome.failure["message"]))
        else:
            future.set_result(outcome)

    def _supersede(self, session: str, request_id: str, outcome: Future[Outcome]) -> None:
        with self._lock:
            older = self._newest.get(session)
            self._newest[session] = request_id
        if older:
            self._end(older, Superseded("a newer search of the same session was sent"))
        outcome.add_done_callback(lambda _: self._forget(session, request_id))

    def _forget(self, session: str, request_id: str) -> None:
        with self._lock:
            if self._newest.get(session) == request_id:
                del self._newest[session]

    def _expire(self) -> None:
        now = time.monotonic()
        while True:
            with self._lock:
                if not self._deadlines or self._deadlines[0][0] > now:
                    return
                _, number, request_id = heapq.heappop(self._deadlines)
                if request_id not in self._waiting or self._waiting[request_id][0] != number:
                    continue
            self._end(request_id, OutcomeTimeout(f"no outcome of the request {request_id} in time"))

    # The reader's thread

    def _read(self) -> None:
        failure: Exception = ClientClosed("the client was closed")
        refresh = time.monotonic() + 60
        try:
            while not self._closed.is_set():
                if record := self._consumer.poll(0.1):
                    self._receive(record)
                self._producer.poll(0)
                self._expire()
                if time.monotonic() > refresh:
                    refresh = time.monotonic() + 60
                    self._assign_new_partitions()
        except Exception as error:
            log.exception("the client cannot read outcomes any more")
            failure = error
        finally:
            with self._lock:
                self._closed.set()
                open_requests = list(self._waiting)
            for request_id in open_requests:
                self._end(request_id, failure)
            self._consumer.close()

    def _receive(self, record: Message) -> None:
        if error := record.error():
            if error.fatal():
                raise KafkaException(error)
            log.warning("librdkafka reports %s; it goes on by itself", error)
            return

        try:
            outcome = decode_outcome(record.value(), record.headers())
        except ValueError as problem:
            log.warning("passed over %s-%s at %s: %s", record.topic(), record.partition(), record.offset(), problem)
            return
        self._end(outcome.event["requestId"], outcome)

    def _partitions(self) -> list[TopicPartition]:
        """Returns all partitions of the outcome topics."""
        known = self._consumer.list_topics(timeout=self._connect_timeout).topics
        for topic in (self._topics.requests, self._topics.results, self._topics.errors):
            if topic not in known:
                raise LookupError(f"the topic {topic} does not exist: run `locsearch topics create`")
        topics = (self._topics.results, self._topics.errors)
        return [TopicPartition(topic, number) for topic in topics for number in known[topic].partitions]

    def _assign(self, partitions: list[TopicPartition], *, from_end: bool) -> None:
        for partition in partitions:
            partition.offset = OFFSET_BEGINNING
            if from_end:
                _, partition.offset = self._consumer.get_watermark_offsets(partition, timeout=self._connect_timeout)
        self._consumer.incremental_assign(partitions)

    def _assign_new_partitions(self) -> None:
        """Reads partitions that were added since, from their beginning: they hold nothing from before this client."""
        try:
            assigned = {(partition.topic, partition.partition) for partition in self._consumer.assignment()}
            new = [each for each in self._partitions() if (each.topic, each.partition) not in assigned]
            if new:
                self._assign(new, from_end=False)
        except (KafkaException, LookupError) as problem:
            log.warning("cannot look for new partitions: %s", problem)
