"""Workers are killed at random while requests flow: nothing may be lost, little may be repeated."""

import random
from collections.abc import Callable

from harness.lab import Experiment, Lab
from harness.provider import rarely_slow


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


def beside_slow_requests(delivery: str) -> Callable[[Lab], None]:
    """What has finished behind a slow request is not done again: with 1 % of the requests slow, and no others, at most
    what the killed workers had open and one commit interval is repeated. With exactly-once that holds for the calls,
    and no outcome is there twice."""

    def run(lab: Lab) -> None:
        kills, rate = lab.size((3, 200), (20, 200))
        lab.begin_delivering(delivery, partitions=12, results=12)
        lab.provider.latency(30)
        fleet = lab.workers_delivering(delivery, 4)
        chance, done = random.Random(6), False
        load = lab.sender.start(1_000_000, rate, until=lambda: done, keyword=rarely_slow, timeoutMs=30_000)
        for _ in range(kills):
            lab.steady(90, past_offsets=True)
            victim = chance.choice(sorted(fleet.workers))
            lab.say(f"kill -9 of worker {victim}")
            fleet.kill(victim, ask=True)
            fleet.start(victim)
        lab.steady(90, past_offsets=True)
        done = True
        load.join()
        lab.end(settle=120)
        lab.judge_calls()

    return run


def many(delivery: str) -> Callable[[Lab], None]:
    """Kills workers two at a time, and does not wait for the group to settle: no record may be taken for the cause."""

    def run(lab: Lab) -> None:
        pairs, rate = lab.size((5, 200), (100, 200))
        lab.begin_delivering(delivery, partitions=12, results=12)
        lab.provider.latency(30)
        fleet = lab.workers_delivering(delivery, 6)
        chance, done = random.Random(7), False
        load = lab.sender.start(1_000_000, rate, until=lambda: done)
        for n in range(pairs):
            before = lab.recorder.finished
            lab.until(lambda: all(w.ready() for w in fleet.workers.values()), 90, "the workers to be ready")
            lab.until(lambda: lab.recorder.finished > before, 60, "outcomes to come")
            for victim in chance.sample(sorted(fleet.workers), 2):
                fleet.kill(victim, ask=True)
                fleet.start(victim)
            lab.say(f"{2 * n + 2} workers were killed")
        done = True
        load.join()
        lab.end(settle=180)
        lab.figure("workers killed", 2 * pairs)
        lab.figure("records set aside", lab.counts().get("internal", 0))
        lab.check(not lab.counts().get("internal"), "records were set aside, and none of them had crashed a worker")
        lab.judge_calls()

    return run


EXPERIMENTS = [
    Experiment(
        "kill-9",
        "random workers killed under load: nothing lost, duplicates within the bound",
        run,
        library="new",
        seconds=(120, 900),
    ),
    *(
        Experiment(
            "kill-9-slow" if delivery == "at-least-once" else "kill-9-slow-exactly-once",
            f"the same with 1 % of the requests slow, {delivery}: what finished behind them is not repeated",
            beside_slow_requests(delivery),
            library="new",
            seconds=(300, 1800),
        )
        for delivery in ("at-least-once", "exactly-once")
    ),
    *(
        Experiment(
            "kill-9-many" if delivery == "at-least-once" else "kill-9-many-exactly-once",
            f"healthy workers killed two at a time, again and again, {delivery}: no record is set aside",
            many(delivery),
            library="new",
            seconds=(300, 3600),
        )
        for delivery in ("at-least-once", "exactly-once")
    ),
]
