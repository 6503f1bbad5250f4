"""Three records crash each worker that runs them: they are set aside after few crashes, and all others are answered."""

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

from harness.lab import Experiment, Fleet, Lab, Skipped
from harness.traffic import request

HEADER = "LOCSEARCH_TEST_TRAP_HEADER"
MARK = "test-trap"
MOST_ENDS = 9  # Three for each record: docs/guarantees.md.


def use_tested_program(lab: Lab) -> None:
    """Has the lab run the debug build, whose workers trap at a marked record."""
    release = Path(lab.options.locsearch)
    lab.check(HEADER.encode() not in release.read_bytes(), "the program as it is deployed has the hook of this test")
    tested = Path(".build/debug/locsearch")
    if not tested.exists() or HEADER.encode() not in tested.read_bytes():
        raise Skipped("there is no debug build: `swift build --product locsearch` makes one")
    lab.options = dataclasses.replace(lab.options, locsearch=str(tested.resolve()))
    os.environ[HEADER] = MARK


def replace_those_that_end(lab: Lab, fleet: Fleet, records: int, marked: int) -> None:
    """Starts a worker in place of each that ends, until all records are answered, and judges how many did."""
    ends, began = 0, time.monotonic()
    while time.monotonic() - began < lab.size(240, 480):
        for index, worker in list(fleet.workers.items()):
            if worker.alive:
                continue
            ends += 1
            lab.say(f"worker {index} ended with {worker.process.returncode}, the end number {ends}")
            fleet.kill(index)
            fleet.start(index)
        if lab.recorder.finished >= records:
            break
        time.sleep(0.1)

    lab.figure("process ends", ends)
    lab.check(ends <= MOST_ENDS, f"{ends} processes ended, more than {MOST_ENDS}")
    lab.check(lab.counts().get("internal") == marked, f"not {marked} records were set aside: {lab.counts()}")
    lab.end(settle=30)


def poisoned(delivery: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        use_tested_program(lab)
        total = lab.size(10_000, 50_000)
        # One alone, and two near each other in one partition.
        marked = {total // 5: 1, total // 2: 4, total // 2 + 7: 4}
        lab.begin_delivering(delivery, partitions=8, results=8)
        lab.provider.latency(30)
        fleet = lab.workers_delivering(delivery, 4)
        sent = 0
        for number, partition in sorted(marked.items()):
            lab.sender.many(number - sent, 1_000, prefix=f"r{sent}-")
            lab.sender.send(None, b"{}", partition=partition, bad=True, headers=[(MARK, b"1")])
            sent = number
        lab.sender.many(total - sent, 1_000, prefix=f"r{sent}-")
        replace_those_that_end(lab, fleet, total + len(marked), len(marked))

    return run


def overtaking(lab: Lab) -> None:
    """The marked records are interactive requests, and each overtakes more than a thousand batch requests of its
    partition: more than an owner of the partition is careful with.
    """
    use_tested_program(lab)
    batch, partitions = lab.size(8_000, 40_000), 4
    lab.begin(partitions=partitions, results=8)
    lab.provider.latency(30)
    fleet = lab.workers(
        4,
        topics__requests=f"{lab.topics.requests}:interactive+batch",
        providers__hotpepper__requestsPerSecond=lab.size(150, 300),
    )
    lab.sender.many(batch, prefix="batch", priority="batch")
    marked = {"first": 1, "second": 3, "third": 3}
    for number, (id, partition) in enumerate(marked.items()):
        value = request(id, batch + number, priority="interactive")
        # What is set aside is not decoded, so that its event names the record and not the request.
        lab.sender.send(None, value, partition=partition, bad=True, headers=[(MARK, b"1")])
    lab.sender.flush()
    replace_those_that_end(lab, fleet, batch + len(marked), len(marked))


EXPERIMENTS = [
    Experiment(
        "poison" if delivery == "at-least-once" else "poison-exactly-once",
        f"three records that crash every worker, {delivery}: set aside after nine crashes, all others answered",
        poisoned(delivery),
        library="new",
        seconds=(300, 600),
    )
    for delivery in ("at-least-once", "exactly-once")
] + [
    Experiment(
        "poison-mixed",
        "the same where such records overtake more than a thousand batch requests of their partitions",
        overtaking,
        needs={"topics.requests": "requests:interactive+batch"},
        library="new",
        seconds=(300, 600),
    )
]
