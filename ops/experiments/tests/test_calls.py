"""The comparison of calls: each way in which a provider may have received more than was counted is found."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from harness.calls import BUDGET, BUDGET_SPENT, BY_PRICE, CALLS, Counts, LastMetrics, add, count, faults


def counts(received: int, counted: int, **more) -> Counts:
    these = Counts(
        Counter(hotpepper=received), Counter(hotpepper=counted), Counter(hotpepper=counted), attempts=counted
    )
    return replace(these, **more)


@pytest.mark.parametrize(
    "these",
    [
        counts(100, 100),
        counts(100, 103),  # Some were never sent.
        counts(100, 100, budgets={"hotpepper": 120}),
        counts(100, 100, priced=Counter(hotpepper=98), in_flight=2),
        counts(140, 100, unreported=64),  # A worker was killed.
        counts(140, 100, attempts=130, unreported=64),
        counts(140, 100, attempts=130, silent=1),
    ],
)
def test_counts_that_agree(these):
    assert faults(these) == []


@pytest.mark.parametrize(
    "these,what",
    [
        (counts(125, 100), "hotpepper received 125 calls, the workers counted 100"),
        (counts(165, 100, unreported=64), "may have made 64 more"),
        (counts(100, 100, priced=Counter(hotpepper=99)), "99 of them have a price class"),
        (counts(100, 100, attempts=101), "101 attempts, the workers counted 100"),
        (counts(100, 100, budgets={"hotpepper": 99}), "its budget has 99"),
        (counts(100, 100, attempts=101, silent=1), "101 attempts, the providers received 100"),
        (counts(100, 100, attempts=101, unreported=64), "101 attempts, the providers received 100"),
    ],
)
def test_counts_that_do_not_agree(these, what):
    found = faults(these)
    assert any(what in fault for fault in found), found


def test_calls_to_one_provider_do_not_stand_for_those_to_another():
    these = Counts(
        Counter({"hotpepper": 10, "google-places": 5}),
        Counter({"hotpepper": 5, "google-places": 10}),
        Counter({"hotpepper": 5, "google-places": 10}),
    )
    assert [fault.split(" ")[0] for fault in faults(these)] == ["hotpepper", "hotpepper"]


def metrics(calls: int, is_open: int = 0) -> dict[str, float]:
    return {
        CALLS + '{provider="hotpepper"}': calls,
        BY_PRICE + '{provider="hotpepper",sku="hotpepper"}': calls,
        "locsearch_requests_open": is_open,
    }


class Fake:
    """A worker, a fleet and a provider by turns, as far as `count` looks at them."""

    settings = {"worker.concurrency": 64}

    def __init__(self, metrics=None, alive=True, leaving=None, at_kill=None):
        self.metrics, self.alive, self.leaving, self.at_kill = lambda: metrics or {}, alive, leaving, at_kill or {}
        self.all: list[Fake] = []

    def received(self) -> Counter:
        return Counter(hotpepper=7)

    def stats(self) -> dict:
        return {"inFlight": 1}


def counted(*workers) -> Counts:
    fleet = Fake()
    fleet.all = list(workers)
    return count([Fake(), Fake()], [fleet], 3)


def left(metrics: dict) -> LastMetrics:
    thread = LastMetrics(Fake(metrics, alive=False))
    thread.start()
    return thread


def test_workers_of_every_end_are_counted():
    ended = {"alive": False}
    seen = counted(Fake(metrics(5)), Fake(**ended, leaving=left(metrics(3))), Fake(**ended, at_kill=metrics(2)))
    assert (seen.received["hotpepper"], seen.in_flight, seen.attempts) == (14, 2, 3)
    assert (seen.counted["hotpepper"], seen.priced["hotpepper"]) == (10, 10)
    assert (seen.unreported, seen.silent) == (64, 0)


def test_worker_whose_last_metrics_came_too_early_may_have_made_more_calls():
    seen = counted(Fake(alive=False, leaving=left(metrics(3, is_open=2))))
    assert (seen.counted["hotpepper"], seen.unreported) == (3, 64)


def test_worker_without_metrics_is_silent():
    assert counted(Fake(alive=False), Fake(alive=False, leaving=left({}))).silent == 2


def test_budget_is_what_is_used_and_reserved():
    these, labels = Counts(), '{provider="hotpepper",account="hotpepper",unit="calls"}'
    used, reserved = BUDGET_SPENT
    add({BUDGET + labels: 100, used + labels: 40, reserved + labels: 8}, these)
    add({BUDGET + labels: 100, used + labels: 41}, these)
    assert these.budgets == {"hotpepper": 48}


def test_last_metrics_are_those_before_the_process_ended():
    process = subprocess.Popen(["sleep", "0.3"])

    class Worker:
        answers = iter([{"a": 1.0}, {"a": 2.0}])

        def metrics(self) -> dict:
            return next(self.answers, {})

        @property
        def alive(self) -> bool:
            return process.poll() is None

    thread = LastMetrics(Worker())
    thread.start()
    thread.join(10)
    assert thread.metrics == {"a": 2.0}
