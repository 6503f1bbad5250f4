"""A client that sends requests and waits for their outcomes, on top of confluent-kafka."""

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from location_search_client.errors import BrokersUnreachable, ClientClosed, Superseded
from location_search_client.events import ERRORS_TOPIC, REQUESTS_TOPIC, RESULTS_TOPIC, Request
from location_search_client.records import Outcome, Position, RequestRecord, decode_outcome, encode_request
from location_search_client.waiting import Waiting, WaitingTable

log = logging.getLogger(__name__)

# The producer chooses partitions as Kafka's Java clients, the workers and their tools do. CRC32, librdkafka's default,
# would put a session's key into another partition than theirs.
PRODUCER = {"partitioner": "murmur2_random", "enable.idempotence": True, "linger.ms": 0}
# The consumer joins no group, so the name of its group is never used.
CONSUMER = {"group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
# librdkafka's errors for brokers that do not answer.
UNREACHABLE = {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._RESOLVE}


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

        Raises BrokersUnreachable when no broker answers, and LookupError when a topic does not exist.
        """
        common = {"bootstrap.servers": bootstrap_servers, **(settings or {})}
        self._source, self._topics = source, topics
        self._producer = Producer({**PRODUCER, **common})
        self._problems: deque[KafkaError] = deque(maxlen=2)  # the last errors of the consumer's connections
        self._consumer = Consumer({**CONSUMER, "error_cb": self._problems.append, **common})
        self._connect_timeout = connect_timeout

        self._sending = threading.Lock()
        self._waiting = WaitingTable()
        self._closed = threading.Event()

        try:
            self._assign(self._partitions(), from_end=True)
        except KafkaException as error:
            unreachable = self._unreachable(bootstrap_servers, error)
            self._consumer.close()
            if unreachable:
                raise unreachable from error
            raise
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

        Only the outcome of the record that this client writes counts, also where another program uses the same
        `requestId`. Asynchronous programs wait for it with `await asyncio.wrap_future(client.send(...))`. Raises
        ValueError when this `requestId` is under way already, and ClientClosed after `close`; nothing is sent then.
        """
        expires = datetime.now(UTC) + timedelta(seconds=within)
        record = encode_request(request, source=self._source, expires=expires, headers=headers)
        session = request.get("sessionId") if request.get("operation") in ("search", None) else None
        failure, older = None, None

        # Without this lock, two threads could write the requests of a session in one order and supersede in the other:
        # then both would end as Superseded.
        with self._sending:
            waiting = self._waiting.register(record.request_id, within, is_own=True)
            try:
                self._produce(record, waiting)
                older = self._waiting.replace_newest(session, waiting) if session else None
            except (BufferError, KafkaException) as error:
                failure = error

        # Futures end outside the lock, because their callbacks may send.
        if failure:
            self._waiting.end(waiting, failure)
        if older:
            self._waiting.end(older, Superseded("a newer search of the same session was sent"))
        return waiting.future

    def expect(self, request_id: str, *, within: float = 30) -> Future[Outcome]:
        """Returns the future of the outcome of a request that another program sends.

        Call this before that program sends it, because outcomes that nobody waits for are not kept. The first outcome
        with this id counts, because this client does not know where the request stands.
        """
        return self._waiting.register(request_id, within, is_own=False).future

    def close(self) -> None:
        """Sends what is not sent yet, for up to 10 s, and ends all futures with ClientClosed.

        Calls of `send` raise ClientClosed from now on. Nothing is sent after this method has returned.
        """
        with self._sending:
            self._waiting.close()
        unsent = self._producer.flush(10)
        self._closed.set()
        if threading.current_thread() is not self._reader:  # a future's callback may close the client
            self._reader.join()
        if unsent:
            self._producer.purge()

    def __enter__(self) -> "SearchClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _produce(self, record: RequestRecord, waiting: Waiting) -> None:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error:
                self._waiting.end(waiting, KafkaException(error))
            else:
                self._waiting.locate(waiting, position(message))

        self._producer.produce(
            self._topics.requests, record.value, record.key, headers=[*record.headers], on_delivery=delivered
        )

    # The reader's thread

    def _read(self) -> None:
        failure: Exception = ClientClosed("the client was closed")
        refresh = time.monotonic() + 60
        try:
            while not self._closed.is_set():
                if record := self._consumer.poll(0.1):
                    self._receive(record)
                self._producer.poll(0)
                self._waiting.expire()
                if time.monotonic() > refresh:
                    refresh = time.monotonic() + 60
                    self._assign_new_partitions()
        except Exception as error:
            log.exception("the client cannot read outcomes any more")
            failure = error
        finally:
            self._closed.set()
            self._waiting.end_all(failure)
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
        self._waiting.deliver(outcome)

    def _unreachable(self, servers: str, error: KafkaException) -> BrokersUnreachable | None:
        """Returns an error that names the brokers, or None where they answered."""
        kafka_error: KafkaError = error.args[0]
        if kafka_error.code() not in UNREACHABLE:
            return None
        self._consumer.poll(0)  # calls back with the reason
        reasons = [each.str() for each in self._problems if each.code() != KafkaError._ALL_BROKERS_DOWN]
        return BrokersUnreachable(servers, kafka_error, reasons[-1] if reasons else kafka_error.str())

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


def position(message: Message) -> Position | None:
    """Returns where a record stands, from its delivery report. None where the brokers reported no offset."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None or offset < 0:
        return None
    return Position(topic, partition, offset)
