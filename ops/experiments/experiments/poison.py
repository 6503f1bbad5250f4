"""Three records crash each worker that runs them: they are set aside after few crashes, and all others are answered."""

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

from harness.lab import Experiment, Lab, Skipped

HEADER = "LOCSEARCH_TEST_TRAP_HEADER"
MARK = "test-trap"
MOST_ENDS = 9  # Three for each record: docs/guarantees.md.


def poisoned(delivery: str) -> Callable[[Lab], None]:
    return lambda lab: run(lab, delivery)


def run(lab: Lab, delivery: str) -> None:
    release = Path(lab.options.locsearch)
    lab.check(HEADER.encode() not in release.read_bytes(), "the program as it is deployed has the hook of this test")
    tested = Path(".build/debug/locsearch")
    if not tested.exists() or HEADER.encode() not in tested.read_bytes():
        raise Skipped("there is no debug build: `swift build --product locsearch` makes one")
    lab.options = dataclasses.replace(lab.options, locsearch=str(tested.resolve()))
    os.environ[HEADER] = MARK

    total = lab.size(10_000, 50_000)
    marked = {total // 5: 1, total // 2: 4, total // 2 + 7: 4}  # One alone, and two near each other in one partition.
    lab.begin_delivering(delivery, partitions=8, results=8)
    lab.provider.latency(30)
    fleet = lab.workers_delivering(delivery, 4)
    sent, began = 0, time.monotonic()
    for number, partition in sorted(marked.items()):
        lab.sender.many(number - sent, 1_000, prefix=f"r{sent}-")
        lab.sender.send(None, b"{}", partition=partition, bad=True, headers=[(MARK, b"1")])
        sent = number
    lab.sender.many(total - sent, 1_000, prefix=f"r{sent}-")

    ends = 0
    while time.monotonic() - began < lab.size(240, 480):
        for index, worker in list(fleet.workers.items()):
            if worker.alive:
                continue
            ends += 1
            lab.say(f"worker {index} ended with {worker.process.returncode}, the end number {ends}")
            fleet.kill(index)
            fleet.start(index)
        if lab.recorder.finished >= total + len(marked):
            break
        time.sleep(0.1)

    lab.figure("process ends", ends)
    lab.check(ends <= MOST_ENDS, f"{ends} processes ended, more than {MOST_ENDS}")
    lab.check(lab.counts().get("internal") == len(marked), f"not {len(marked)} records were set aside: {lab.counts()}")
    lab.end(settle=30)


EXPERIMENTS = [
    Experiment(
        "poison" if delivery == "at-least-once" else "poison-exactly-once",
        f"three records that crash every worker, {delivery}: set aside after nine crashes, all others answered",
        poisoned(delivery),
        library="new",
        seconds=(300, 600),
    )
    for delivery in ("at-least-once", "exactly-once")
]
