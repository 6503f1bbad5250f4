"""Workers are killed at random while requests flow: nothing may be lost, little may be repeated."""

import random
import time

from harness.lab import Experiment, Lab


def run(lab: Lab) -> None:
    total, kills, rate = lab.size((5_000, 5, 500), (50_000, 32, 1_000))
    lab.begin(partitions=12, results=12)
    lab.provider.latency(30)
    fleet = lab.workers(4)
    chance = random.Random(1)
    done = False
    load = lab.sender.start(20 * total, rate, until=lambda: done and lab.recorder.sent >= total)
    for _ in range(kills):
        # Each kill hits a settled group under load. The mock broker refuses commits while a group forms, so a kill
        # would then repeat more than one commit interval.
        lab.steady()
        victim = chance.choice(sorted(fleet.workers))
        lab.say(f"kill -9 of worker {victim}")
        fleet.kill(victim)
        fleet.start(victim)
    done = True
    load.join()
    lab.end(settle=90)


def run_behind_slow_requests(lab: Lab) -> None:
    """One call in a hundred takes 20 s. What is finished behind it is not repeated: commits say that it is done."""
    kills, rate = lab.size((6, 200), (20, 500))
    lab.begin(partitions=12, results=12)
    lab.provider.latency(30)
    lab.provider.faults(0.01, "hang")
    fleet = lab.workers(
        4,
        worker__deadline="20s",
        providers__hotpepper__attemptTimeout="off",
        providers__hotpepper__maxAttempts=1,
        providers__hotpepper__adaptiveConcurrency="false",
        providers__hotpepper__breaker__enabled="false",
    )
    chance, done, in_flight = random.Random(1), False, 0
    load = lab.sender.start(1_000_000, rate, until=lambda: done)
    for _ in range(kills):
        lab.steady()
        time.sleep(3)  # Slow requests are under way in every partition, and much is finished behind them.
        victim = chance.choice(sorted(fleet.workers))
        status = fleet.workers[victim].status()
        in_flight += status["inFlight"] + status["undelivered"]
        lab.say(f"kill -9 of worker {victim}")
        fleet.kill(victim)
        fleet.start(victim)
    done = True
    load.join()
    lab.end(settle=90)
    lab.figure("in flight or unconfirmed at the kills", in_flight)
    lab.figure("calls", lab.provider.calls())


EXPERIMENTS = [
    Experiment(
        "kill-9-slow",
        "random workers killed while one call in a hundred takes 20 s: what is done behind those is not repeated",
        run_behind_slow_requests,
        library="new",
        seconds=(240, 900),
    ),
    Experiment(
        "kill-9",
        "random workers killed under load: nothing lost, duplicates within the bound",
        run,
        library="new",
        seconds=(120, 900),
    ),
]
