"""The requests whose outcomes have not arrived. This module knows no Kafka client."""

import heapq
import itertools
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from location_search_client.errors import ClientClosed, OutcomeTimeout, Superseded
from location_search_client.records import Failed, Outcome, Position

# Outcomes with the id of one request that are kept until the delivery report says where that request stands.
MOST_EARLY = 100


@dataclass(eq=False, slots=True)
class Waiting:
    """A request whose outcome has not arrived."""

    number: int
    """Distinguishes it from other requests that use the same id later."""
    request_id: str
    is_own: bool
    """Whether this client writes the record. Only then does it know the position that the outcome must name."""
    position: Position | None = None
    """Where the record stands. None until its delivery report arrives."""
    early: deque[Outcome] = field(default_factory=lambda: deque(maxlen=MOST_EARLY))
    """Outcomes with this id that arrived before the delivery report."""
    future: Future[Outcome] = field(default_factory=Future)


class WaitingTable:
    """Ends the future of each request once. All methods may be called from any thread.

    No lock is held while a future ends, so its callbacks may send.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._deadlines: list[tuple[float, int, str]] = []
        self._numbers = itertools.count()
        self._newest: dict[str, Waiting] = {}  # the newest search under way of each session
        self._closed = False

    def register(self, request_id: str, within: float, *, is_own: bool) -> Waiting:
        """Adds a request. Raises ValueError when its id is under way already, and ClientClosed after `close`."""
        with self._lock:
            if self._closed:
                raise ClientClosed("the client is closed")
            if request_id in self._waiting:
                raise ValueError(f"the request {request_id} is under way already")
            waiting = Waiting(next(self._numbers), request_id, is_own)
            self._waiting[request_id] = waiting
            heapq.heappush(self._deadlines, (time.monotonic() + within, waiting.number, request_id))
        return waiting

    def locate(self, waiting: Waiting, position: Position | None) -> None:
        """Takes over from a delivery report where a request stands. None: the brokers reported no offset (`acks=0`)."""
        with self._lock:
            waiting.is_own, waiting.position = position is not None, position
            early = list(waiting.early)
            waiting.early.clear()
        for outcome in early:
            self.deliver(outcome)

    def deliver(self, outcome: Outcome) -> None:
        """Ends the future of the request that an outcome names by its id and its position.

        Second copies of an outcome find no future any more. Another program's request may have the same id, but it
        stands elsewhere.
        """
        with self._lock:
            waiting = self._waiting.get(outcome.event["requestId"])
            if waiting is None:
                return
            if waiting.is_own and waiting.position is None:
                waiting.early.append(outcome)
                return
            if waiting.is_own and waiting.position != outcome.request_position:
                return
        self.end(waiting, outcome)

    def end(self, waiting: Waiting, outcome: Outcome | Exception) -> None:
        """Ends a request's future, unless it has ended."""
        with self._lock:
            if self._waiting.get(waiting.request_id) is not waiting:
                return
            del self._waiting[waiting.request_id]
        if not waiting.future.set_running_or_notify_cancel():
            return

        if isinstance(outcome, Exception):
            waiting.future.set_exception(outcome)
        elif isinstance(outcome, Failed) and outcome.failure["code"] == "superseded":
            waiting.future.set_exception(Superseded(outcome.failure.get("message", "")))
        else:
            waiting.future.set_result(outcome)

    def replace_newest(self, session: str, waiting: Waiting) -> Waiting | None:
        """Makes a search the newest one of its session, and returns the one before it, if that is under way."""
        with self._lock:
            older = self._newest.get(session)
            self._newest[session] = waiting
        number = waiting.number  # the future must not refer to itself, or it would outlive its last user
        waiting.future.add_done_callback(lambda _: self._forget(session, number))
        return older

    def _forget(self, session: str, number: int) -> None:
        with self._lock:
            if (newest := self._newest.get(session)) and newest.number == number:
                del self._newest[session]

    def expire(self) -> None:
        """Ends all requests whose time is over."""
        now = time.monotonic()
        while True:
            with self._lock:
                if not self._deadlines or self._deadlines[0][0] > now:
                    return
                _, number, request_id = heapq.heappop(self._deadlines)
                waiting = self._waiting.get(request_id)
            if waiting and waiting.number == number:
                self.end(waiting, OutcomeTimeout(f"no outcome of the request {request_id} in time"))

    def close(self) -> None:
        """Refuses further requests."""
        with self._lock:
            self._closed = True

    def end_all(self, failure: Exception) -> None:
        with self._lock:
            self._closed = True
            open_requests = list(self._waiting.values())
        for waiting in open_requests:
            self.end(waiting, failure)
