"""A backlog and a provider that takes 200 ms: two workers do twice as much as one, and four do four times as much."""

import time

from harness.lab import Experiment, Lab

PARTITIONS, CONCURRENCY, LATENCY_MS = 12, 16, 200
LEAST_SHARE = 0.95  # Of one worker's rate, for each worker of a larger fleet.


def run(lab: Lab) -> None:
    window = lab.size(8, 30)
    # The mock does not wait for members that hand over partitions, so some requests are done twice when a worker joins.
    # `scale` is about that. Here only the rate counts.
    lab.recorder.add("params", allowed=100_000)
    lab.begin(partitions=PARTITIONS)
    lab.provider.latency(LATENCY_MS)
    fleet = lab.workers(1, client=lab.patience, worker__concurrency=CONCURRENCY)
    done = False
    load = lab.sender.start(1_000_000, 5_000, until=lambda: done, ahead=6_000)
    lab.until(lambda: lab.sampler.lag() > 3_000, 30, "requests to wait")

    rates: dict[int, float] = {}
    for size in (1, 2, 4):
        while len(fleet.workers) < size:
            fleet.start(len(fleet.workers))
        lab.steady()
        rates[size] = rate(lab, window)
        lab.say(f"{size} workers: {rates[size]:.0f} requests/s")
        lab.figure(f"requests/s of {size}", round(rates[size], 1))

    done = True
    load.join()
    # By Little's law, each worker can do this much. What is missing of it is the worker's own time for each request.
    most = CONCURRENCY / (LATENCY_MS / 1000)
    lab.figure("share of what the provider's latency allows one worker", round(rates[1] / most, 3))
    for size in (2, 4):
        share = rates[size] / size / rates[1]
        lab.figure(f"{size} workers, each beside one alone", round(share, 3))
        lab.check(
            share >= LEAST_SHARE,
            f"each of {size} workers did {share:.3f} of what one does alone; {LEAST_SHARE} is wanted",
        )

    waiting, began = lab.recorder.sent - lab.recorder.finished, time.monotonic()
    expected = waiting / rates[4]
    lab.settle(within=expected * 2 + 10)
    took = time.monotonic() - began
    lab.figure("drain", f"{waiting} waiting requests took {took:.1f} s, by the rate of four workers {expected:.1f} s")
    lab.check(took <= expected / LEAST_SHARE + 2, f"the backlog took {took:.1f} s, by the rate {expected:.1f} s")
    lab.end()


def rate(lab: Lab, window: float) -> float:
    before, began = lab.recorder.finished, time.monotonic()
    time.sleep(window)
    return (lab.recorder.finished - before) / (time.monotonic() - began)


EXPERIMENTS = [
    Experiment(
        "scaling-out",
        "1, 2 and 4 workers on 12 partitions: each does as much as one alone, and the backlog drains accordingly",
        run,
        library="new",
        seconds=(150, 300),
        alone=True,
    )
]
