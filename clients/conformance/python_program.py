"""A program that uses the client for Python, for the conformance suite. A call is a line of JSON on standard input, its
answer one on standard output. It ends with its standard input.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import confluent_kafka
from location_search_client import Completed, Outcome, Position, SearchClient, Topics, client, retry_delay

SETTINGS = {"log_level": 0, "reconnect.backoff.max.ms": 500}
outcomes: dict[int, Outcome] = {}  # by the id of the call that sent the request
read: list[str] = []  # the positions of all records that the client was given
sends = 0
hold_send, hold_report = 0.0, 0.0  # seconds
own: SearchClient


class ObservedConsumer(confluent_kafka.Consumer):
    """Notes what is read."""

    def poll(self, timeout: float | None = -1) -> Any:
        record = super().poll(timeout)
        if record and not record.error():
            read.append(f"{record.topic()}-{record.partition()}-{record.offset()}")
        return record


class ObservedProducer(confluent_kafka.Producer):
    """Delays the first record, and each delivery report."""

    reports_at = 0.0

    def produce(self, *arguments: Any, **options: Any) -> None:
        global sends
        sends += 1
        if sends == 1:
            time.sleep(hold_send)
        super().produce(*arguments, **options)
        self.reports_at = time.monotonic() + hold_report

    def poll(self, timeout: float | None = -1) -> int:
        return super().poll(timeout) if time.monotonic() >= self.reports_at else 0


client.Consumer, client.Producer = ObservedConsumer, ObservedProducer


def text(position: Position) -> str:
    return f"{position.topic}-{position.partition}-{position.offset}"


def connect(_: int, servers: str, source: str, topics: dict[str, str] | None = None, **holds: float) -> dict[str, Any]:
    global own, hold_send, hold_report
    hold_send, hold_report = holds.get("holdSendMs", 0) / 1000, holds.get("holdReportMs", 0) / 1000
    own = SearchClient(servers, source=source, topics=Topics(**(topics or {})), settings=SETTINGS, connect_timeout=2)
    return {}


def send(number: int, request: Any, within: float) -> dict[str, Any]:
    outcome = outcomes[number] = own.search(request, within=within)
    ended = "completed" if isinstance(outcome, Completed) else "failed"
    return {"ended": ended, "event": outcome.event, "position": text(outcome.request_position)}


def delay(_: int, of: int, maxDelay: float | None = None) -> dict[str, Any]:
    options: dict[str, Any] = {} if maxDelay is None else {"max_delay": maxDelay}
    return {"delay": retry_delay(outcomes[of], 1, **options)}


def observe(_: int) -> dict[str, Any]:
    return {"read": read, "sends": sends}


def rejoin(_: int) -> dict[str, Any]:
    return {}  # this client is in no group


def close(_: int) -> dict[str, Any]:
    own.close()
    return {}


FUNCTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "open": connect,
    "send": send,
    "delay": delay,
    "observe": observe,
    "rejoin": rejoin,
    "close": close,
}
# The suite's names for errors that are not the package's own.
NAMES = {"ValueError": "DuplicateRequest"}
output = threading.Lock()


def answer(id: int, call: str, **parameters: Any) -> None:
    try:
        result = FUNCTIONS[call](id, **parameters)
    except Exception as error:
        result = {"ended": NAMES.get(type(error).__name__, type(error).__name__), "message": str(error)}
    with output:
        print(json.dumps({"id": id, **result}), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, kwargs=json.loads(line), daemon=True).start()
