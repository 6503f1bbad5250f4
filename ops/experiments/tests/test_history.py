"""Broken histories, each with one thing wrong: the checker must see it, and nothing in a sound one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from history import History


def sent(o, p=0, **more):
    return {"e": "sent", "t": 0.0, "id": f"r{p}-{o}", "key": f"k{p}", "p": p, "o": o, **more}


def outcome(o, oo, p=0, t=1.0, **more):
    return {
        "e": "outcome",
        "t": t,
        "kind": "result",
        "id": f"r{p}-{o}",
        "key": f"k{p}",
        "p": p,
        "o": o,
        "op": 0,
        "oo": oo,
        "ce": f"e{p}-{o}",
        **more,
    }


def sound(n=10):
    return [sent(o) for o in range(n)] + [outcome(o, o) for o in range(n)]


def judge(events):
    history = History()
    for event in events:
        history.add(event)
    return history.judge()


def commit(committed, results, t=2.0, **ends):
    return {"e": "commit", "t": t, "committed": {"0": committed}, "ends": {"result": {"0": results}, **ends}}


def test_sound_history_passes():
    v = judge(sound() + [commit(10, 10)])
    assert v.ok and (v.sent, v.outcomes, v.lost, v.duplicates, v.wrong) == (10, 10, 0, 0, 0)


def test_outcome_read_before_the_acknowledgement_counts():
    v = judge([outcome(0, 0), sent(0)])
    assert v.ok and v.outcomes == 1


def test_lost():
    v = judge(sound() + [sent(10)])
    assert v.lost == 1 and "r0-10" in v.violations[0]


def test_unacknowledged_request_may_have_no_outcome():
    assert judge(sound() + [sent(10, found=True)]).ok


def test_bad_record_needs_error_and_dead_letter():
    bad = sent(10, bad=True, id=None, key=None)
    error = outcome(10, 0, kind="error", code="invalid-request")
    dead = outcome(10, 0, kind="dead")
    assert judge(sound() + [bad, error, dead]).ok
    assert judge(sound() + [bad, error]).lost == 1
    assert judge(sound() + [bad, dead]).lost == 1
    assert judge(sound() + [bad, outcome(10, 10), dead]).wrong == 1


def test_proper_request_must_not_be_a_dead_letter():
    assert judge(sound() + [outcome(3, 0, kind="dead")]).wrong == 1


@pytest.mark.parametrize("change", [{"id": "other"}, {"key": "other"}, {"key": None}, {"fault": "no ce_id"}])
def test_wrong_outcome(change):
    events = sound()
    events[-1].update(change)
    v = judge(events)
    assert v.wrong == 1 and not v.ok


def test_key_defaults_to_the_request_id():
    assert judge([sent(0, key=None), outcome(0, 0, key="r0-0")]).ok
    assert judge([sent(0, key=None), outcome(0, 0, key="k0")]).wrong == 1


def test_outcome_of_nothing():
    assert judge(sound() + [outcome(99, 10)]).wrong == 1


def test_redelivery_must_keep_the_event_id():
    events = sound() + [outcome(3, 10, ce="another"), {"e": "kill", "t": 1.0}]
    assert judge(events).wrong == 1


def test_two_requests_must_not_share_an_event_id():
    events = sound()
    events[-1]["ce"] = "e0-0"
    assert judge(events).wrong == 1


def test_duplicates_need_a_kill():
    doubled = sound() + [outcome(3, 10)]
    assert judge(doubled).duplicates == 1 and not judge(doubled).ok
    assert judge(doubled + [{"e": "kill", "t": 1.0}]).ok


def test_duplicates_of_a_planned_change_are_never_allowed():
    events = [{"e": "params", "allowed": 0}, *sound(), outcome(3, 10), {"e": "kill", "t": 1.0}]
    assert not judge(events).ok


def test_result_and_error_of_one_request_is_a_duplicate():
    assert judge(sound() + [outcome(3, 0, kind="error", code="timeout")]).duplicates == 1


def test_dead_letter_duplicates_are_bounded_too():
    bad = [sent(10, bad=True), outcome(10, 0, kind="error"), outcome(10, 0, kind="dead"), outcome(10, 1, kind="dead")]
    v = judge(sound() + bad)
    assert v.dead_duplicates == 1 and not v.ok


@pytest.mark.parametrize("doubles,ok", [(20, True), (21, False)])
def test_bound_is_in_flight_plus_the_busiest_interval_of_one_worker(doubles, ok):
    # Two workers have four partitions. In the first second partitions 0 and 1 have 8 and 7 outcomes, which one worker
    # may have finished; later there are fewer. 5 are in flight.
    events = [{"e": "params", "inFlight": 5}, {"e": "live", "t": 0.0, "workers": 2}, {"e": "kill", "t": 1.0}]
    counts = [8, 7, 5, 1]
    events += [sent(o, p) for p, count in enumerate(counts) for o in range(count)]
    events += [outcome(o, o, p, t=0.5, op=p) for p, count in enumerate(counts) for o in range(count)]
    events += [outcome(o, 100 + number, p, t=1.5 + number, op=p) for number, (o, p) in enumerate([(0, 0)] * doubles)]
    v = judge(events)
    assert v.duplicates == doubles and v.bound == 20 and v.ok == ok


def test_a_kill_that_was_asked_counts_what_was_open_in_place_of_the_limit():
    kills = [{"e": "kill", "t": 1.0, "open": 3}, {"e": "kill", "t": 1.0}]
    events = [{"e": "params", "inFlight": 5}, *sound(), *kills]
    assert judge(events).bound == 3 + 5 + 2 * judge(events).most_per_worker


def test_a_worker_alone_may_have_finished_all():
    events = sound() + [sent(10, 1), outcome(10, 10, 1, t=1.5)]
    assert judge(events).most_per_worker == 11


def test_superseded_needs_a_newer_request_of_its_session():
    older = outcome(0, 0, kind="error", code="superseded")
    events = [sent(0, session="s"), sent(1, session="s"), older, outcome(1, 0)]
    assert judge(events).ok and judge(events).superseded == 1
    newest = [sent(0, session="s"), sent(1, session="s"), outcome(0, 0), outcome(1, 0, kind="error", code="superseded")]
    assert judge(newest).wrong == 1
    other = [sent(0, session="s"), sent(1, session="t"), older, outcome(1, 0)]
    assert judge(other).wrong == 1


@pytest.mark.parametrize("ordering,violations", [("unordered", 0), ("key", 1), ("partition", 2)])
def test_order(ordering, violations):
    events = [{"e": "params", "ordering": ordering}]
    keys = ["a", "b", "a", "b"]
    events += [sent(o, key=k) for o, k in enumerate(keys)]
    events += [outcome(o, oo, key=keys[o]) for oo, o in enumerate([2, 0, 1, 3])]  # a's are swapped; b's are not
    v = judge(events)
    assert v.order_violations == violations and v.ok == (violations == 0)


def test_order_is_that_of_the_topic_not_of_the_reader():
    events = [{"e": "params", "ordering": "key"}, sent(0), sent(1), outcome(1, 1), outcome(0, 0)]
    assert judge(events).ok


def test_repeats_after_a_crash_do_not_break_the_order():
    events = [{"e": "params", "ordering": "key"}, *sound(4), outcome(2, 4), outcome(3, 5), {"e": "kill", "t": 1.0}]
    assert judge(events).ok


def test_commit_past_an_unfinished_request():
    assert judge(sound() + [commit(10, 10)]).ok
    v = judge(sound() + [commit(10, 9)])
    assert v.commit_violations == 1 and "0/9" in v.violations[0]
    never = [sent(0), sent(1), outcome(1, 0), commit(1, 1)]
    assert judge(never).commit_violations == 1 and judge(never).lost == 1


def test_commit_is_judged_at_its_own_time():
    v = judge(sound() + [commit(5, 2), commit(10, 10, t=3.0)])
    assert v.commit_violations == 3  # 2, 3 and 4 came out later


def test_commit_past_a_missing_dead_letter():
    events = [sent(0, bad=True), outcome(0, 0, kind="error"), outcome(0, 0, kind="dead")]
    early: dict[str, Any] = {
        "e": "commit",
        "t": 2.0,
        "committed": {"0": 1},
        "ends": {"error": {"0": 1}, "dead": {"0": 0}},
    }
    assert judge(events + [early]).commit_violations == 1
    early["ends"]["dead"]["0"] = 1
    assert judge(events + [early]).ok


def test_commit_by_time_where_ends_are_not_exact():
    events = [sent(0), outcome(0, 0, ts=1000)]
    assert judge(events + [{"e": "commit", "t": 2.0, "committed": {"0": 1}, "wall": 1000}]).ok
    assert judge(events + [{"e": "commit", "t": 2.0, "committed": {"0": 1}, "wall": 999}]).commit_violations == 1


def test_command_line(tmp_path):
    for events, code in ((sound(), 0), (sound() + [sent(10)], 1)):
        file = tmp_path / "history.jsonl"
        file.write_text("".join(json.dumps(e) + "\n" for e in events))
        done = subprocess.run([sys.executable, ROOT / "history.py", file], capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
