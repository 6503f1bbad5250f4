"""Memory over time while nothing goes forward, or a great deal waits: it must stay flat, and nothing may be lost."""

import time

from harness.lab import Experiment, Lab
from harness.report import sparkline

GROWTH_MB, GROWTH = 8, 1.10  # The second half's peak may exceed the first half's by so much.


def judge(lab: Lab, since: float, what: str) -> None:
    """Checks that memory is flat: once the worker is warm, it grows no more than malloc's noise."""
    sizes = lab.watch.megabytes(since=since)
    if len(sizes) < 8:
        lab.recorder.problem(f"only {len(sizes)} samples of memory")
        return
    half = len(sizes) // 2
    early, late = max(sizes[:half]), max(sizes[half:])
    lab.figure(
        f"memory {what}, MB",
        f"{min(sizes):.0f}..{max(sizes):.0f} over {lab.recorder.now - since:.0f} s  {sparkline(sizes)}",
    )
    lab.figure(
        "MB at each tenth", " ".join(f"{sizes[min(len(sizes) - 1, i * len(sizes) // 10)]:.0f}" for i in range(11))
    )
    lab.check(late <= max(early * GROWTH, early + GROWTH_MB), f"memory grew from {early:.0f} MB to {late:.0f} MB")


def hanging(lab: Lab) -> None:
    """The provider never answers, so each request takes its whole deadline and the rest waits in the topic."""
    total, stuck = lab.size((4_000, 8), (40_000, 60))
    lab.begin(partitions=8)
    lab.provider.faults(1.0, "hang")
    lab.workers(
        1,
        worker__concurrency=256,
        worker__deadline="2s",
        if_known={"providers.hotpepper.breaker.enabled": False, "providers.hotpepper.adaptiveConcurrency": False},
    )
    lab.recorder.add("params", allowed=0)
    lab.sender.many(total)
    time.sleep(2)
    began = lab.recorder.now
    time.sleep(stuck)
    judge(lab, began, "while the provider hangs")
    lab.provider.faults(0.0)
    lab.provider.latency(5)
    lab.end(settle=120)


def refused(lab: Lab) -> None:
    """Every produce of an outcome is refused (and retried) for a while."""
    total, stuck = lab.size((20_000, 8), (100_000, 60))
    lab.begin(partitions=8)
    lab.require_faults()
    lab.provider.latency(5)
    lab.sender.many(total)
    lab.broker.tell(fail={"api": "Produce", "errors": ["NOT_ENOUGH_REPLICAS"] * 2000})
    # The mock does not check sequence numbers: it would accept a partition's second batch while it refuses the first,
    # as no real broker does, and the client would then take the first for written as well. So only one request is in
    # flight.
    lab.workers(1, worker__concurrency=256, client={"max.in.flight.requests.per.connection": 1})
    lab.recorder.add("params", allowed=0)
    end = time.monotonic() + stuck
    began = lab.recorder.now
    while time.monotonic() < end:
        lab.broker.tell(fail={"api": "Produce", "errors": ["NOT_ENOUGH_REPLICAS"] * 200})
        time.sleep(0.2)
    judge(lab, began, "while the broker refuses outcomes")
    lab.broker.tell(clear={"api": "Produce"})
    lab.end(settle=120)


def backlog(lab: Lab) -> None:
    """All requests are there before the worker starts."""
    total, partitions = lab.size(
        (150_000, 8), (1_000_000, 64)
    )  # So many that the worker is warm before the first half is over.
    lab.begin(partitions=partitions, results=16)
    lab.provider.latency(1)
    lab.recorder.add("params", allowed=0)
    lab.sender.many(total)
    lab.say(f"{total} requests wait")
    lab.workers(1, worker__concurrency=256)
    began = lab.recorder.now
    lab.settle(lab.size(150, 900), idle=30)
    took = lab.recorder.now - began
    judge(lab, began, f"with {total} requests waiting in {partitions} partitions")
    lab.figure("requests per second", round(total / took))
    lab.end()


EXPERIMENTS = [
    Experiment(
        "memory-hanging", "the provider never answers: memory stays flat, nothing lost", hanging, seconds=(90, 400)
    ),
    Experiment(
        "memory-refused",
        "the broker refuses every outcome: memory stays flat, nothing lost",
        refused,
        seconds=(90, 400),
    ),
    Experiment(
        "memory-backlog", "1,000,000 requests wait: memory stays flat, nothing lost", backlog, seconds=(240, 1500)
    ),
]
