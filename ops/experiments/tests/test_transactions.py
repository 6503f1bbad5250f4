"""The relay in front of a real broker: it must see what was committed, what was aborted, and offsets that do not
fit.
"""

import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from confluent_kafka import TopicPartition
from harness.brokers import TansuBroker
from harness.processes import Processes, wait_until
from harness.recorder import Recorder
from harness.traffic import Topics
from harness.transactions import Ledger, Relay

TOPICS = Topics.named("run")


@pytest.fixture
def seen(tmp_path):
    processes, ledger = Processes(tmp_path), Ledger()
    relay = Relay(ledger)
    try:
        broker = TansuBroker(processes, advertised=relay.port)
        relay.forward_to(broker.port)
        broker.create_topics({TOPICS.requests: 1, TOPICS.results: 2})
        yield ledger, broker.bootstrap
    finally:
        relay.stop()
        processes.end_all()


def producer(bootstrap, id="worker-1"):
    p = Producer({"bootstrap.servers": bootstrap, "transactional.id": id})
    p.init_transactions(20)
    return p


def outcome(p, offset):
    headers = {"source-partition": "0", "source-offset": str(offset), "ce_id": f"e{offset}"}
    p.produce(TOPICS.results, b'{"requestId":"r%d"}' % offset, b"k", headers=headers)


def transact(p, consumer, offsets, upto, commit=True):
    p.begin_transaction()
    for o in offsets:
        outcome(p, o)
    p.flush(10)
    p.send_offsets_to_transaction([TopicPartition(TOPICS.requests, 0, upto)], consumer.consumer_group_metadata(), 20)
    p.commit_transaction(20) if commit else p.abort_transaction(20)


def test_relay_tells_committed_from_aborted(seen, tmp_path):
    ledger, bootstrap = seen
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": TOPICS.group})
    p = producer(bootstrap)
    transact(p, consumer, [0, 1, 2], 3)
    transact(p, consumer, [3, 4], 5, commit=False)
    transact(p, consumer, [3, 4, 5], 6)
    consumer.close()
    assert [t.ended for t in ledger.ended] == ["committed", "aborted", "committed"]
    assert [t.offsets for t in ledger.ended] == [{0: 3}, {0: 5}, {0: 6}]
    assert ledger.faults() == []

    recorder = Recorder(tmp_path / "history.jsonl")
    for o in range(6):
        recorder.add("sent", id=f"r{o}", key="k", p=0, o=o)
    ledger.feed(recorder, TOPICS)
    verdict = recorder.history.judge()
    assert verdict.ok and verdict.outcomes == 6


def test_offsets_that_do_not_fit_the_records_are_found(seen):
    ledger, bootstrap = seen
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": TOPICS.group})
    p = producer(bootstrap)
    transact(p, consumer, [0, 2], 3)  # without 1
    transact(p, consumer, [3, 4], 4)  # one too many
    consumer.close()
    assert len(ledger.faults()) == 2


def test_a_fenced_producer_commits_nothing(seen):
    ledger, bootstrap = seen
    zombie = producer(bootstrap)
    zombie.begin_transaction()
    outcome(zombie, 0)
    zombie.flush(10)
    heir = producer(bootstrap)
    with pytest.raises(KafkaException):
        zombie.commit_transaction(2)  # Tansu fences by hanging up, so it is asked again and again
    heir.begin_transaction()
    outcome(heir, 0)
    heir.commit_transaction(20)
    assert [t.ended for t in ledger.ended if t.ended == "committed"] == ["committed"]
    assert all(t.producer[1] == 1 or t.ended != "committed" for t in ledger.ended)


def committed(bootstrap):
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": TOPICS.group, "isolation.level": "read_committed"})
    try:
        return reader.committed([TopicPartition(TOPICS.requests, 0)], 2)[0].offset
    finally:
        reader.close()


def joined(bootstrap):
    member = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": TOPICS.group,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 500,
        }
    )
    member.subscribe([TOPICS.requests])
    wait_until(lambda: member.poll(0.1) or member.assignment(), 30, "an assignment")
    return member


def test_offsets_are_given_out_once_their_transaction_has_ended(seen):
    _ledger, bootstrap = seen
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": TOPICS.group})
    earlier, p = producer(bootstrap, "earlier"), producer(bootstrap)
    earlier.begin_transaction()  # Tansu holds back what ends while it is open
    outcome(earlier, 7)
    earlier.flush(10)
    transact(p, consumer, [0, 1], 2)
    assert committed(bootstrap) == 2
    p.begin_transaction()
    p.send_offsets_to_transaction([TopicPartition(TOPICS.requests, 0, 3)], consumer.consumer_group_metadata(), 20)
    with pytest.raises(KafkaException):
        committed(bootstrap)
    p.commit_transaction(20)
    assert committed(bootstrap) == 3
    consumer.close()


def test_who_has_left_the_group_commits_nothing(seen):
    ledger, bootstrap = seen
    member, p = joined(bootstrap), producer(bootstrap)
    place = member.consumer_group_metadata()
    member.close()
    p.begin_transaction()
    outcome(p, 0)
    p.flush(10)
    with pytest.raises(KafkaException):
        p.send_offsets_to_transaction([TopicPartition(TOPICS.requests, 0, 1)], place, 10)
    p.abort_transaction(20)  # with an epoch of its own for what comes next
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": TOPICS.group})
    transact(p, consumer, [0], 1)
    consumer.close()
    assert [t.offsets for t in ledger.ended if t.ended == "committed"] == [{0: 1}]
    assert ledger.faults() == []


def test_a_transaction_that_takes_too_long_is_aborted(seen):
    ledger, bootstrap = seen
    p = Producer({"bootstrap.servers": bootstrap, "transactional.id": "slow", "transaction.timeout.ms": 1000})
    p.init_transactions(20)
    p.begin_transaction()
    outcome(p, 0)
    p.flush(10)
    wait_until(lambda: ledger.ended, 30, "the end of the transaction")
    with pytest.raises(KafkaException):
        p.commit_transaction(10)
    assert [t.ended for t in ledger.ended] == ["aborted"]
