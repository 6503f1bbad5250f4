"""Requests to records, and records to outcomes. This module knows no Kafka client, so it serves any of them."""

import json
import random
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from location_search_client.events import COMPLETED, FAILED, REQUESTED, ErrorEvent, Failure, Request, Result


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request as a record of the requests topic. Write it with the partitioner `murmur2_random`."""

    request_id: str
    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]


def encode_request(
    request: Request, *, source: str, expires: datetime | None = None, headers: Mapping[str, str] | None = None
) -> RequestRecord:
    """Makes a CloudEvent in binary mode of a request.

    The key is the `sessionId`, which keeps the requests of a session in order and lets a newer search supersede an
    older one. The key of a request without a session is its `requestId`, a random one where it names none.

    - source: the URI of your program, for `ce_source`.
    - expires: until when the outcome is wanted. A worker that reads the request later asks no provider.
    - headers: further headers, such as `traceparent`.
    """
    request_id = request.get("requestId") or str(uuid.uuid4())
    all_headers = {
        "ce_specversion": "1.0",
        "ce_id": request_id,
        "ce_source": source,
        "ce_type": REQUESTED,
        "content-type": "application/json",
        **({"ce_expirytime": expires.astimezone(UTC).isoformat(timespec="milliseconds")} if expires else {}),
        **(headers or {}),
    }
    return RequestRecord(
        request_id,
        key=(request.get("sessionId") or request_id).encode(),
        value=json.dumps({**request, "requestId": request_id}, ensure_ascii=False, allow_nan=False).encode(),
        headers=[(name, value.encode()) for name, value in all_headers.items()],
    )


@dataclass(frozen=True, slots=True)
class Position:
    """Where a request stands in the requests topic. Within a partition, the newer request has the greater offset."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Completed:
    """The outcome of a request that succeeded. An empty list of places is a success."""

    event: Result
    request_position: Position
    steps: str | None = None
    """The header `request-steps`: where the time of the request went, for logs. None unless workers write it."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The outcome of a request that failed."""

    event: ErrorEvent
    request_position: Position
    steps: str | None = None
    """The header `request-steps`: where the time of the request went, for logs. None unless workers write it."""

    @property
    def failure(self) -> Failure:
        return self.event["error"]


Outcome = Completed | Failed
Headers = Mapping[str, str | bytes | None] | Iterable[tuple[str, str | bytes | None]] | None
"""The headers of a record, in each of the forms that confluent-kafka and other clients have."""


def decode_outcome(value: bytes | None, headers: Headers) -> Outcome:
    """Reads a record of the results or errors topic.

    Raises ValueError for a record that is no outcome, which a consumer should log and pass over.
    """
    texts = {
        name: content.decode(errors="replace") if isinstance(content, bytes) else content or ""
        for name, content in dict(headers or ()).items()
    }
    try:
        event = json.loads(value or b"")
        position = Position(texts["source-topic"], int(texts["source-partition"]), int(texts["source-offset"]))
        kind, request_id = texts["ce_type"], event["requestId"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no outcome of a request: {error!r}") from error

    if not isinstance(request_id, str):
        raise ValueError("no outcome of a request: requestId is no text")
    if kind == COMPLETED:
        return Completed(cast(Result, event), position, texts.get("request-steps"))
    if kind != FAILED:
        raise ValueError(f"no outcome of a request: ce_type is {kind}")
    failure = event.get("error")
    if not isinstance(failure, dict) or not isinstance(failure.get("code"), str):
        raise ValueError("no outcome of a request: error has no code")
    return Failed(cast(ErrorEvent, event), position, texts.get("request-steps"))


class Deduplicator:
    """Drops second copies of outcomes, which a crash of a worker can cause.

    Of two copies the first one counts, except that a result also counts after an error, and then replaces it.
    """

    def __init__(self, capacity: int = 100_000):
        """Remembers this many requests. Copies are seldom further apart than the open requests of a fleet."""
        self._capacity = capacity
        self._completed: OrderedDict[Position, bool] = OrderedDict()

    def accepts(self, outcome: Outcome) -> bool:
        """Returns whether an outcome counts, and remembers it."""
        known = self._completed.get(outcome.request_position)
        completed = isinstance(outcome, Completed)
        if known or (known is False and not completed):
            return False

        self._completed[outcome.request_position] = completed
        if len(self._completed) > self._capacity:
            self._completed.popitem(last=False)
        return True


def retry_delay(outcome: Outcome, attempt: int, *, attempts: int = 3, max_delay: float = 60) -> float | None:
    """Returns how many seconds to wait before sending the same request again, or None where that would not help.

    Workers have tried again already, within the request's own deadline. So this waits for as long as the failure's
    `retryAfterMs` says, and for a random time that grows from one attempt to the next, lest all clients come back at
    once. Give the request that you send again a `requestId` of its own.

    - attempt: how often the request has been sent, 1 after the first time.
    - attempts: how often it may be sent in all.
    - max_delay: the longest wait that the caller accepts, in seconds. The advice can be much longer: when a day's quota
      is used up, it is the time until the next day. Then this returns None, and `retryAfterMs` of the failure says when
      to try again.
    """
    if isinstance(outcome, Completed) or not outcome.failure["retryable"] or attempt >= attempts:
        return None
    advice, backoff = outcome.failure.get("retryAfterMs", 0) / 1000, min(30, 2.0 ** (attempt - 1))
    if advice + backoff > max_delay:
        return None
    return advice + backoff * random.uniform(0.5, 1)
