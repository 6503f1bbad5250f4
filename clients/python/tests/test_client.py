"""The client, beside a real broker, provider and worker."""

import asyncio
import json
import uuid
from concurrent.futures import Future
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, Producer, TopicPartition
from location_search_client import (
    BrokersUnreachable,
    ClientClosed,
    Completed,
    Deduplicator,
    Failed,
    Outcome,
    OutcomeTimeout,
    SearchClient,
    SearchRequest,
    Superseded,
    Topics,
    decode_outcome,
    retry_delay,
)

WITHIN = 20
UNREAD = Topics(requests="unread.requests")


def search(**members: object) -> SearchRequest:
    request = {"location": {"latitude": 35.690921, "longitude": 139.700258}, "provider": "hotpepper", **members}
    return request  # type: ignore[return-value]


def records_of(bootstrap: str, topic: str, key: str) -> list[Message]:
    """Returns all records of a key, from all partitions of a topic."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    numbers = consumer.list_topics(topic, timeout=WITHIN).topics[topic].partitions
    partitions = [TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers]
    consumer.assign(partitions)

    missing = sum(consumer.get_watermark_offsets(partition, timeout=WITHIN)[1] for partition in partitions)
    records = []
    while missing > 0:
        record = consumer.poll(WITHIN)
        assert record is not None and not record.error()
        records.append(record)
        missing -= 1
    consumer.close()
    return [record for record in records if record.key() == key.encode()]


def test_search_returns_places(client: SearchClient) -> None:
    outcome = client.search(search(limit=3), within=WITHIN)

    assert isinstance(outcome, Completed)
    assert outcome.event["operation"] == "search"
    assert 1 <= len(outcome.event["places"]) <= 3
    assert outcome.request_position.topic == "location-search.requests"


def test_first_request_after_connecting_gets_its_outcome(bootstrap: str) -> None:
    """The outcome may be there before a client that reads too late has found the end of the topic."""
    with SearchClient(bootstrap, source="/client-tests") as client:
        assert isinstance(client.search(search(), within=WITHIN), Completed)


def test_many_requests_get_their_own_outcomes(client: SearchClient) -> None:
    futures = {f"many-{uuid.uuid4()}": Future[Outcome]() for _ in range(50)}
    for request_id in futures:
        futures[request_id] = client.send(search(requestId=request_id), within=WITHIN)

    for request_id, future in futures.items():
        assert future.result().event["requestId"] == request_id


def test_asyncio_program_awaits_its_outcome(client: SearchClient) -> None:
    async def program() -> Outcome:
        return await asyncio.wrap_future(client.send(search(), within=WITHIN))

    assert isinstance(asyncio.run(program()), Completed)


def test_invalid_request_fails_and_is_not_worth_another_try(client: SearchClient) -> None:
    outcome = client.search(search(radiusMeters=-1), within=WITHIN)

    assert isinstance(outcome, Failed)
    assert (outcome.failure["code"], outcome.failure.get("member")) == ("invalid-request", "radiusMeters")
    assert retry_delay(outcome, 1) is None


def test_provider_that_is_away_is_worth_another_try(client: SearchClient) -> None:
    outcome = client.search(search(keyword="fault:503"), within=WITHIN)

    assert isinstance(outcome, Failed)
    assert outcome.failure["code"] == "upstream-unavailable"
    delay = retry_delay(outcome, 1)
    assert delay is not None
    assert delay >= outcome.failure.get("retryAfterMs", 0) / 1000


def test_second_try_succeeds(client: SearchClient) -> None:
    request = search(keyword=f"fault:503*1 {uuid.uuid4()}")
    codes = [type(client.search(request, within=WITHIN)) for _ in range(2)]

    assert codes == [Failed, Completed]


def test_request_that_is_sent_once_more_has_its_own_time_limit(client: SearchClient) -> None:
    request_id = f"again-{uuid.uuid4()}"
    client.search(search(requestId=request_id), within=4)

    again = client.expect(request_id, within=WITHIN)
    with pytest.raises(OutcomeTimeout):
        client.expect(f"nobody-sends-{uuid.uuid4()}", within=4).result()
    assert not again.done()


def test_newer_search_supersedes_older_one(client: SearchClient, bootstrap: str) -> None:
    session = f"session-{uuid.uuid4()}"
    older = client.send(search(sessionId=session, keyword="fault:delay=5000"), within=WITHIN)
    newer = client.send(search(sessionId=session), within=WITHIN)

    with pytest.raises(Superseded):
        older.result(0)
    assert isinstance(newer.result(), Completed)
    # The worker has ended the older one, too: both stand in one partition, because their key is the session.
    [error] = records_of(bootstrap, "location-search.errors", session)
    assert json.loads(error.value() or b"")["error"]["code"] == "superseded"


def test_search_that_another_client_supersedes_raises_the_same(client: SearchClient, bootstrap: str) -> None:
    session = f"session-{uuid.uuid4()}"
    with SearchClient(bootstrap, source="/client-tests") as other:
        older = client.send(search(sessionId=session, keyword="fault:delay=5000"), within=WITHIN)
        while not records_of(bootstrap, "location-search.requests", session):
            assert not older.done()
        newer = other.send(search(sessionId=session), within=WITHIN)

        with pytest.raises(Superseded):
            older.result()
        assert isinstance(newer.result(), Completed)


def test_details_do_not_supersede_a_search(client: SearchClient) -> None:
    session = f"session-{uuid.uuid4()}"
    searching = client.send(search(sessionId=session), within=WITHIN)
    client.send({"operation": "details", "provider": "hotpepper", "placeId": "J000000000", "sessionId": session})

    assert isinstance(searching.result(), Completed)


def test_request_that_nobody_reads_times_out_and_has_expired(bootstrap: str) -> None:
    with SearchClient(bootstrap, source="/client-tests", topics=UNREAD) as client, pytest.raises(OutcomeTimeout):
        client.search(search(requestId="late"), within=0.2)

    [record] = records_of(bootstrap, "unread.requests", "late")
    assert "ce_expirytime" in dict(record.headers() or {})


@pytest.mark.parametrize(
    ("key", "murmur2"),
    # Kafka's own test vectors.
    [("21", -973932308), ("foobar", -790332482), ("a-little-bit-long-string", -985981536), ("abc", 479470107)],
)
def test_key_goes_to_the_partition_that_java_chooses(bootstrap: str, key: str, murmur2: int) -> None:
    with SearchClient(bootstrap, source="/client-tests", topics=UNREAD) as client:
        client.send(search(sessionId=key))

    [record] = records_of(bootstrap, "unread.requests", key)
    assert record.partition() == (murmur2 & 0x7FFFFFFF) % 3


def test_second_copy_of_an_outcome_is_dropped(client: SearchClient, bootstrap: str) -> None:
    """The copy is a worker's own outcome, written once more as after a crash."""
    request_id = f"twice-{uuid.uuid4()}"
    client.search(search(requestId=request_id), within=WITHIN)
    [original] = records_of(bootstrap, "location-search.results", request_id)

    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce("location-search.results", original.value(), original.key(), headers=original.headers())
    assert producer.flush(WITHIN) == 0

    outcomes = Deduplicator()
    copies = records_of(bootstrap, "location-search.results", request_id)
    assert [outcomes.accepts(decode_outcome(each.value(), each.headers())) for each in copies] == [True, False]


def test_request_id_can_be_under_way_once_only(client: SearchClient) -> None:
    request_id = f"same-{uuid.uuid4()}"
    first = client.send(search(requestId=request_id, keyword="fault:delay=200"), within=WITHIN)

    with pytest.raises(ValueError, match="under way"):
        client.send(search(requestId=request_id))
    assert isinstance(first.result(), Completed)


def test_record_that_is_no_outcome_is_passed_over(client: SearchClient, bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in (b"{", b"[]", b"null", None, b'{"requestId": 7}'):
        producer.produce("location-search.errors", value, "anything", headers={"ce_type": "location-search.failed.v1"})
    assert producer.flush(WITHIN) == 0

    assert isinstance(client.search(search(), within=WITHIN), Completed)


def test_closing_ends_what_is_under_way(bootstrap: str) -> None:
    client = SearchClient(bootstrap, source="/client-tests", topics=UNREAD)
    waiting = client.send(search())
    client.close()

    with pytest.raises(ClientClosed):
        waiting.result(0)
    with pytest.raises(ClientClosed):
        client.send(search())


def test_missing_topic_is_named(bootstrap: str) -> None:
    with pytest.raises(LookupError, match=r"nowhere\.results"):
        SearchClient(bootstrap, source="/client-tests", topics=Topics(results="nowhere.results"))


def test_broker_that_is_away_is_reported_in_time() -> None:
    with pytest.raises(BrokersUnreachable, match=r"127\.0\.0\.1:1 .*refused.*check") as raised:
        SearchClient("127.0.0.1:1", source="/client-tests", connect_timeout=0.5, settings={"log_level": 0})
    assert isinstance(raised.value, KafkaException)


def test_callback_of_a_future_may_send_and_close(bootstrap: str) -> None:
    client = SearchClient(bootstrap, source="/client-tests", topics=UNREAD)
    closed: Future[None] = Future()

    def send_and_close(_: Future[Outcome]) -> None:
        client.send(search())
        client.close()
        closed.set_result(None)

    client.send(search(), within=0.2).add_done_callback(send_and_close)
    closed.result(WITHIN)
    with pytest.raises(ClientClosed):
        client.send(search())


def test_example_of_the_readme_prints_places(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    example = readme.split("```python\n")[1].split("```")[0]
    exec(example.replace("localhost:9092", bootstrap), {})

    assert "error" not in capsys.readouterr().out
