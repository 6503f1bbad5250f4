"""What knows no Kafka client: events to and from records, second copies, and advice on retries."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from location_search_client import (
    RETRYABLE_CODES,
    Completed,
    Deduplicator,
    Failed,
    Outcome,
    SearchRequest,
    decode_outcome,
    encode_request,
    retry_delay,
)

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"
SHINJUKU: SearchRequest = {"location": {"latitude": 35.690921, "longitude": 139.700258}}


def outcome(code: str | None = None, *, offset: int = 7, **failure: Any) -> Outcome:
    """A result, or an error with a code."""
    event: dict[str, Any] = {"requestId": "r"}
    if code:
        event["error"] = {"code": code, "message": "m", "retryable": code in RETRYABLE_CODES, **failure}
    headers = {
        "ce_type": f"location-search.{'failed' if code else 'completed'}.v1".encode(),
        "source-topic": b"location-search.requests",
        "source-partition": b"2",
        "source-offset": str(offset).encode(),
    }
    return decode_outcome(json.dumps(event).encode(), headers)


def test_examples_of_the_schemas_can_be_read() -> None:
    kinds = {Completed: 0, Failed: 0}
    for line in (SCHEMAS / "examples/events.jsonl").read_text().splitlines():
        record = json.loads(line)
        headers = dict(record.get("headers") or [])
        if "source-topic" in headers and "dead-letter-reason" not in headers:
            value = record["value"] if isinstance(record["value"], str) else json.dumps(record["value"])
            kinds[type(decode_outcome(value.encode(), headers))] += 1
    assert all(kinds.values()), kinds


@pytest.mark.parametrize("kind", ["completed", "failed"])
def test_steps_of_a_request_are_there_where_workers_write_them(kind: str) -> None:
    headers = [("ce_type", f"location-search.{kind}.v1"), ("source-topic", "t"), ("source-partition", "2")]
    value = json.dumps({"requestId": "r", "error": {"code": "timeout"}}).encode()
    steps = "topic 12; call hotpepper 0+61 ok"

    assert decode_outcome(value, [*headers, ("source-offset", "7"), ("request-steps", steps.encode())]).steps == steps
    assert decode_outcome(value, [*headers, ("source-offset", "7")]).steps is None


@pytest.mark.parametrize(
    "value", [b"[" * 100_000, b'{"requestId": "r", "error": {}}', b'{"requestId": 1, "error": {"code": "timeout"}}']
)
def test_strange_records_are_no_outcomes(value: bytes) -> None:
    headers = {"ce_type": b"location-search.failed.v1", "source-topic": b"t"}
    with pytest.raises(ValueError, match="no outcome of a request"):
        decode_outcome(value, {**headers, "source-partition": b"2", "source-offset": b"7"})


@pytest.mark.parametrize(("session", "key"), [(None, b"r-1"), ("s-1", b"s-1")])
def test_key_is_the_session_else_the_request_id(session: str | None, key: bytes) -> None:
    record = encode_request({**SHINJUKU, "requestId": "r-1", "sessionId": session}, source="/t")

    assert (record.request_id, record.key) == ("r-1", key)


def test_request_is_a_cloud_event() -> None:
    expires = datetime(2026, 11, 21, 9, 30, 0, 250_000, UTC)
    record = encode_request(
        {**SHINJUKU, "keyword": "ラーメン"}, source="/shop", expires=expires, headers={"traceparent": "00-1-2-01"}
    )

    assert dict(record.headers) == {
        "ce_specversion": b"1.0",
        "ce_id": record.request_id.encode(),
        "ce_source": b"/shop",
        "ce_type": b"location-search.requested.v1",
        "content-type": b"application/json",
        "ce_expirytime": b"2026-11-21T09:30:00.250+00:00",
        "traceparent": b"00-1-2-01",
    }
    assert json.loads(record.value) == {**SHINJUKU, "keyword": "ラーメン", "requestId": record.request_id}


@pytest.mark.parametrize(
    ("copies", "accepted"),
    [
        ((None, None), [True, False]),
        (("timeout", "timeout"), [True, False]),
        (("superseded", None), [True, True]),  # the result counts, whichever came first
        (("superseded", None, None), [True, True, False]),
        ((None, "superseded"), [True, False]),
    ],
)
def test_which_copy_counts(copies: tuple[str | None, ...], accepted: list[bool]) -> None:
    outcomes = Deduplicator()

    assert [outcomes.accepts(outcome(code)) for code in copies] == accepted


def test_deduplicator_forgets_the_oldest() -> None:
    outcomes = Deduplicator(capacity=2)

    assert [outcomes.accepts(outcome(offset=offset)) for offset in (1, 2, 3, 3, 2, 1)] == [True] * 3 + [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("code", sorted(RETRYABLE_CODES))
def test_retryable_failure_is_sent_again_a_few_times(code: str) -> None:
    delays = [retry_delay(outcome(code), attempt) for attempt in (1, 2, 3)]

    assert delays[0] is not None and 0.5 <= delays[0] <= 1
    assert delays[1] is not None and 1 <= delays[1] <= 2
    assert delays[2] is None


@pytest.mark.parametrize("code", ["invalid-request", "unauthorized", "superseded", "expired", None])
def test_other_outcomes_are_not_sent_again(code: str | None) -> None:
    assert retry_delay(outcome(code, retryAfterMs=10) if code else outcome(), 1) is None


def test_retry_waits_for_as_long_as_the_failure_says() -> None:
    delay = retry_delay(outcome("rate-limited", retryAfterMs=4000), 1)

    assert delay is not None and 4.5 <= delay <= 5


def test_retry_that_must_wait_longer_than_the_caller_accepts_is_not_advised() -> None:
    hours = outcome("rate-limited", retryAfterMs=18 * 3_600_000)

    assert retry_delay(hours, 1) is None
    assert retry_delay(hours, 1, max_delay=18 * 3600) is None
    assert (retry_delay(hours, 1, max_delay=24 * 3600) or 0) >= 18 * 3600
    assert retry_delay(outcome("timeout"), 1, max_delay=0.1) is None
