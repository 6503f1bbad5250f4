"""Workers are killed at random while requests flow: nothing may be lost, little may be repeated."""

import random

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


EXPERIMENTS = [
    Experiment(
        "kill-9",
        "random workers killed under load: nothing lost, duplicates within the bound",
        run,
        library="new",
        seconds=(120, 900),
    )
]
