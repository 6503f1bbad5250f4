"""Everything at once, for long: crashes, planned stops, frozen workers, a failing provider and broker, while requests
flow.
"""

import random
import time

from harness.lab import Experiment, Lab

WORKERS = 4


def kill(lab: Lab, chance: random.Random) -> None:
    victim = chance.choice(sorted(lab.fleet.workers))
    lab.fleet.kill(victim)
    lab.fleet.start(victim)


def restart(lab: Lab, chance: random.Random) -> None:
    i = chance.choice(sorted(lab.fleet.workers))
    lab.check(lab.fleet.stop(i) == 0, f"worker {i} did not end with 0 after SIGTERM")
    lab.fleet.start(i)


def freeze(lab: Lab, chance: random.Random) -> None:
    """Freezes a worker for longer than its session. The group goes on without it, and it must notice when it wakes."""
    i = chance.choice(sorted(lab.fleet.workers))
    lab.fleet.freeze(i)
    time.sleep(lab.broker.session_ms / 1000 + 3)
    lab.fleet.thaw(i)
    lab.recorder.add("kill", worker=i, frozen=True)


def provider_fails(lab: Lab, chance: random.Random) -> None:
    lab.provider.faults(0.5, "503", "reset", "garbage", "truncated")
    time.sleep(3)
    lab.provider.faults(0.0)


def provider_slows(lab: Lab, chance: random.Random) -> None:
    lab.provider.latency(400)
    time.sleep(3)
    lab.provider.latency(20)


def broker_refuses(lab: Lab, chance: random.Random) -> None:
    if lab.broker.can_fail:
        for api in ("Produce", "Fetch"):
            lab.broker.tell(
                fail={"api": api, "errors": ["NOT_LEADER_FOR_PARTITION", "REQUEST_TIMED_OUT", "_TRANSPORT"] * 4}
            )
        time.sleep(2)
        for api in ("Produce", "Fetch"):
            lab.broker.tell(clear={"api": api})


CHAOS = [kill, kill, restart, freeze, provider_fails, provider_slows, broker_refuses]
SHORT = [kill, provider_fails, broker_refuses, restart]


def run(lab: Lab) -> None:
    total, rate = lab.size((100_000, 400), (1_000_000, 4_000))
    lab.begin(partitions=24, results=24, errors=8)
    lab.provider.latency(20)
    # The deadline is long, because this experiment is about delivery and not about deadlines.
    lab.workers(WORKERS, worker__concurrency=128, if_known={"providers.hotpepper.breaker.enabled": False})
    chance = random.Random(4)
    turns, done, over = [] if lab.long else list(SHORT), 0, False
    load = lab.sender.start(total, rate, ahead=40_000, until=lambda: over)
    while load.is_alive() and (lab.long or turns):
        lab.steady(60)
        if not turns:
            turns = chance.sample(CHAOS, len(CHAOS))
        event = turns.pop(0)
        lab.say(f"{event.__name__.replace('_', ' ')}; {lab.recorder.finished} requests have their outcome")
        event(lab, chance)
        done += 1
    over = not lab.long
    load.join()
    lab.figure("disturbances", done)
    lab.audit()
    lab.end(settle=lab.size(60, 600))
    sizes = [m for i in range(WORKERS) for m in lab.watch.megabytes(i)]
    lab.figure("most memory of one worker, MB", round(max(sizes)))


EXPERIMENTS = [
    Experiment(
        "soak",
        "1,000,000 requests with crashes, restarts, frozen workers and failing neighbours throughout",
        run,
        library="new",
        seconds=(150, 5400),
    )
]
