"""The conformance script's player: what it makes of answers, and that its bytes are those of the protocol."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from harness.brokers import TansuBroker
from harness.conformance import Cluster, Player, scenarios
from harness.kafka_wire import Reader, Writer, crc32c, read_batches, write_batch
from harness.processes import Processes


class Answers:
    """Stands for a cluster that gives these answers in turn, and remembers what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, step):
        self.asked.append(step)
        return self.answers.pop(0)


def played(*answers, kind="kafka", **scenario):
    player = Player(Answers(*answers), kind, sleep=lambda _: None)
    player.play([{"name": "test"} | scenario])
    return player


def test_answer_that_differs_is_named():
    player = played({"error": "NONE", "offset": 3}, steps=[{"do": "fetch", "expect": "NONE", "see": {"offset": 4}}])
    assert player.differences == ["test, step 1, fetch: offset is 3 where 4 is expected"]


def test_what_follows_a_difference_is_left_out():
    player = played(
        {"error": "INVALID_REQUEST"}, steps=[{"do": "fetch", "expect": "NONE"}, {"do": "fetch", "expect": "NONE"}]
    )
    assert player.played == 1 and "INVALID_REQUEST where NONE" in player.differences[0]


@pytest.mark.parametrize(
    "word, value",
    [("$pid", 7), ("$pid+1", 8), ("$kept.0", 3), ("$group-2", None), ({"$pid": "x"}, {7: "x"}), (["$pid"], [7])],
)
def test_names_stand_for_what_was_bound(word, value):
    player = played(
        {"error": "NONE", "id": 7, "list": [3, 4]},
        {"error": "NONE"},
        steps=[
            {"do": "first", "expect": "NONE", "bind": {"pid": "id", "kept": "list"}},
            {"do": "second", "value": word, "expect": "NONE"},
        ],
    )
    seen = player.cluster.asked[1]["value"]
    assert seen == value if value else seen.startswith("conformance-group-") and seen.endswith("-2")


def test_step_is_repeated_until_it_fits():
    player = played(
        {"error": "CONCURRENT_TRANSACTIONS"},
        {"error": "NONE"},
        steps=[{"do": "endTxn", "expect": "NONE", "until": True}],
    )
    assert not player.differences


def test_brokers_that_cannot_do_a_step_are_not_asked():
    steps = [{"do": "first", "expect": "NONE"}, {"do": "second", "expect": "NONE", "on": ["kafka"]}]
    player = played({"error": "NONE"}, kind="embedded", on=["embedded", "kafka"], steps=steps)
    assert (player.played, player.skipped, player.differences) == (1, 1, [])
    assert played(kind="embedded", steps=steps).skipped == 2


def test_cluster_must_compare_epochs_always_in_the_same_way():
    expect = {"equal": "STALE_MEMBER_EPOCH", "sinceAssignment": "NONE"}
    steps = [{"do": "offsetCommit", "expect": expect}, {"do": "offsetCommit", "expect": expect}]
    assert not played({"error": "NONE"}, {"error": "NONE"}, steps=steps).differences
    player = played({"error": "NONE"}, {"error": "STALE_MEMBER_EPOCH"}, steps=steps)
    assert player.epoch_check == "sinceAssignment" and "STALE_MEMBER_EPOCH where NONE" in player.differences[0]


def test_numbers_and_texts_come_back_as_they_went():
    for flexible in (False, True):
        w = Writer(flexible).text("aé").text(None).blob(b"\0" * 200).i64(-5).signed(-300).unsigned(300).tags()
        w.list([1, 2], w.i32).list(None, None)
        r = Reader(w.bytes, flexible)
        assert (r.text(), r.text(), r.blob(), r.i64(), r.signed(), r.unsigned()) == (
            "aé",
            None,
            b"\0" * 200,
            -5,
            -300,
            300,
        )
        r.tags()
        assert (r.list(r.i32), r.list(r.i32)) == ([1, 2], None)


def test_batches_come_back_as_they_went():
    assert crc32c(b"123456789") == 0xE3069283
    batch = write_batch([b"a", b"b"], 1_000, producer=7, epoch=1, sequence=0, transactional=True)
    assert list(read_batches(batch + batch[:30])) == [(0, b"a", 7, True, False), (1, b"b", 7, True, False)]


def test_answer_that_is_cut_short_is_an_error():
    with pytest.raises(ValueError):
        Reader(b"\0\5ab").text()


def test_steps_name_only_requests_that_the_player_knows():
    words = {step["do"] for scenario in scenarios() for step in scenario["steps"]} - {"wait", "finish"}
    assert [word for word in words if not hasattr(Cluster, "do_" + word)] == []
    assert sum(len(scenario["steps"]) for scenario in scenarios()) > 80


def test_independent_broker_understands_the_bytes(tmp_path):
    processes = Processes(tmp_path)
    try:
        cluster = Cluster(TansuBroker(processes).bootstrap)
        player = Player(cluster, "kafka")
        player.play(
            [
                {
                    "name": "bytes",
                    "steps": [
                        {"do": "createTopic", "topic": "$topic", "partitions": 1, "expect": "NONE"},
                        {"do": "createTopic", "topic": "$topic", "partitions": 1, "expect": "TOPIC_ALREADY_EXISTS"},
                        {
                            "do": "produce",
                            "topic": "$topic",
                            "partition": 0,
                            "values": ["a", "b"],
                            "expect": "NONE",
                            "see": {"baseOffset": 0},
                        },
                        {
                            "do": "fetch",
                            "topic": "$topic",
                            "partition": 0,
                            "offset": 0,
                            "expect": "NONE",
                            "see": {"values": ["a", "b"]},
                        },
                        {
                            "do": "offsetCommit",
                            "group": "$group",
                            "topic": "$topic",
                            "partition": 0,
                            "offset": 7,
                            "expect": "NONE",
                        },
                        {
                            "do": "offsetFetch",
                            "group": "$group",
                            "topic": "$topic",
                            "partition": 0,
                            "requireStable": True,
                            "expect": "NONE",
                            "see": {"offset": 7},
                        },
                        {
                            "do": "joinGroup",
                            "group": "$group",
                            "member": "",
                            "protocols": ["range"],
                            "expect": "MEMBER_ID_REQUIRED",
                            "bind": {"m1": "memberId"},
                        },
                        {
                            "do": "joinGroup",
                            "group": "$group",
                            "member": "$m1",
                            "protocols": ["range"],
                            "expect": "NONE",
                            "see": {"isLeader": True, "members": 1},
                        },
                        {
                            "do": "initProducerId",
                            "transaction": "$tx",
                            "expect": "NONE",
                            "bind": {"pid": "producerId", "epoch": "epoch"},
                        },
                        {
                            "do": "addPartitionsToTxn",
                            "transaction": "$tx",
                            "producerId": "$pid",
                            "epoch": "$epoch",
                            "topic": "$topic",
                            "partition": 0,
                            "expect": "NONE",
                        },
                        {
                            "do": "addOffsetsToTxn",
                            "transaction": "$tx",
                            "producerId": "$pid",
                            "epoch": "$epoch",
                            "group": "$group",
                            "expect": "NONE",
                        },
                        {
                            "do": "txnOffsetCommit",
                            "transaction": "$tx",
                            "producerId": "$pid",
                            "epoch": "$epoch",
                            "group": "$group",
                            "topic": "$topic",
                            "partition": 0,
                            "offset": 9,
                            "expect": "NONE",
                        },
                        {
                            "do": "endTxn",
                            "transaction": "$tx",
                            "producerId": "$pid",
                            "epoch": "$epoch",
                            "result": "commit",
                            "expect": "NONE",
                        },
                    ],
                }
            ]
        )
        cluster.close()
        assert player.differences == []
    finally:
        processes.end_all()
