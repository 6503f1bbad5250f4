"""A producer whose queue holds 10 records, and a broker far away: the worker must wait for room, not fail or spin."""

from harness.lab import Experiment, Lab


def run(lab: Lab) -> None:
    total = lab.size(1_000, 20_000)
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=4, results=4)
    lab.require_faults()
    lab.provider.latency(5)
    lab.sender.many(total)
    lab.broker.tell(rtt={"broker": 1, "ms": 100})
    lab.workers(1, client={"queue.buffering.max.messages": 10})
    lab.settle(lab.size(60, 400), idle=20)
    cpu = lab.watch.rows[-1][3] if lab.watch.rows else 0.0
    lab.broker.tell(rtt={"broker": 1, "ms": 0})
    lab.end()
    lab.figure("CPU seconds of the worker", round(cpu, 2))
    lab.check(cpu < 0.5 * lab.recorder.now, f"the worker burnt {cpu:.1f} s of CPU: it spins while the queue is full")


EXPERIMENTS = [
    Experiment(
        "full-producer-queue",
        "a tiny producer queue and a slow broker: back-pressure, nothing lost",
        run,
        seconds=(100, 600),
    )
]
