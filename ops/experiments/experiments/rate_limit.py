"""Workers share one key's limit: the provider's own counter says whether they keep to it and use it."""

import itertools
import random
import time
from typing import Any

from harness.lab import Experiment, Lab

LIMIT, BURST, PARTITIONS = 100, 10, 12
SETTINGS = {
    "providers.hotpepper.requestsPerSecond": LIMIT,
    "providers.hotpepper.burst": BURST,
    "providers.hotpepper.limitMode": "shared",
}
# Half the work of a second waits at each moment, so that a change of the load shows soon.
AHEAD, OFFERED = LIMIT // 2, 5 * LIMIT


class Load:
    """Requests that wait all the time, in the partitions that `shape` chooses at the moment."""

    def __init__(self, lab: Lab):
        self.lab, self.shape, self.done = lab, lambda i: i % PARTITIONS, False
        self.thread = lab.sender.start(
            10_000_000, OFFERED, until=lambda: self.done, ahead=AHEAD * 4, place=lambda i: self.shape(i)
        )

    def end(self) -> None:
        self.done = True
        self.thread.join()


def begin(lab: Lab, workers: int, has_topic: bool = True, **settings) -> Load:
    # Duplicates do not matter here; `scale` and `rolling-restart` are about them. The mock does not wait for members
    # that finish what they have, and refuses their commits.
    lab.recorder.add("params", allowed=100_000)
    lab.begin(partitions=PARTITIONS, errors=8)
    lab.provider.latency(20)
    if not has_topic:
        lab.broker.ask(topicError={"topic": lab.topics.fleet, "error": "TOPIC_AUTHORIZATION_FAILED"})
    session = {"session.timeout.ms": 3000, "heartbeat.interval.ms": 200} if lab.broker.can_fail else None
    chosen: dict[str, Any] = {k.replace(".", "__"): v for k, v in (SETTINGS | settings).items()}
    lab.workers(workers, client=session, worker__concurrency=256, worker__deadline="30s", **chosen)
    return Load(lab)


def judge(lab: Lab, row: str, seconds: float, is_steady: bool = True) -> None:
    """Reads the provider's counter over some seconds. It counts over every window of 1 s, wherever that begins."""
    lab.provider.reset()
    time.sleep(seconds)
    stats = lab.provider.stats()
    elapsed = stats["elapsedMs"] / 1000
    used, most = stats["requests"] / (LIMIT * elapsed), lab.provider.most_in_one_second()
    lab.say(f"{row}: {used:.1%} used, at most {most}")
    lab.figure(row, f"{used:.1%} of the limit used over {elapsed:.1f} s, at most {most} calls in any second")
    lab.check(most <= LIMIT + BURST, f"{row}: {most} calls in one second, {LIMIT + BURST} may be")
    if is_steady:
        lab.check(used >= 0.95, f"{row}: only {used:.1%} of the limit was used")


def zipf(exponent: float, count: int):
    weights = list(itertools.accumulate(1 / (rank + 1) ** exponent for rank in range(count)))
    chance = random.Random(1)
    return lambda i: chance.choices(range(count), cum_weights=weights)[0]


def by_demand(lab: Lab) -> None:
    """The load lies where it likes, and all of the limit is used."""
    load, seconds = begin(lab, 3), lab.size(6, 20)
    lab.steady()

    def row(name: str, shape, seconds: float = seconds) -> None:
        load.shape = shape
        time.sleep(4)
        judge(lab, name, seconds)

    row("even over the partitions", lambda i: i % PARTITIONS)
    row("Zipf 1.1 over the partitions", zipf(1.1, PARTITIONS))
    row("all on one partition", lambda i: 0)
    assigned = [[p["partition"] for p in w.status()["assignment"]] for w in lab.fleet.alive]
    row("one worker of three idle", lambda i: (assigned[0] + assigned[1])[i % (len(assigned[0]) + len(assigned[1]))])
    # Each step leads to another worker.
    hot = [assigned[i % 3][0] for i in range(3)]
    row("a hot partition that moves every 5 s", lambda i: hot[int(time.monotonic() / 5) % 3], lab.size(15, 60))
    load.end()
    lab.end()


def by_partitions(lab: Lab) -> None:
    """What the share by partitions uses of the same loads, to compare."""
    settings: dict[str, Any] = {"providers.hotpepper.limitMode": "by-partitions"}
    load, seconds = begin(lab, 3, **settings), lab.size(6, 20)
    lab.steady()
    for name, shape in {
        "even over the partitions": lambda i: i % PARTITIONS,
        "Zipf 1.1 over the partitions": zipf(1.1, PARTITIONS),
        "all on one partition": lambda i: 0,
    }.items():
        load.shape = shape
        time.sleep(4)
        judge(lab, name, seconds, is_steady=False)
    load.end()
    lab.end()


def changes(lab: Lab) -> None:
    """Workers come, go, stand still and die, and brokers are away: the limit is never exceeded."""
    load = begin(lab, 3)
    lab.steady()
    fleet = lab.fleet
    # All work lies in one partition, so that as much as possible is leased while the fleet changes.
    load.shape = lambda i: 0
    time.sleep(4)

    lab.provider.reset()
    lab.say("worker 2 is killed, and comes back")
    fleet.kill(2)
    time.sleep(6)
    fleet.start(2)
    judge(lab, "a worker killed with -9, and another in its place", 8, is_steady=False)

    lab.say("worker 1 stands still for 10 s")
    fleet.freeze(1)
    judge(lab, "a worker stopped for 10 s", 10, is_steady=False)
    fleet.thaw(1)
    judge(lab, "the same worker goes on", 6, is_steady=False)

    if lab.broker.can_fail:
        lab.say("the broker is away for 10 s")
        lab.broker.ask(down=1)
        judge(lab, "brokers away for 10 s", 10, is_steady=False)
        lab.broker.ask(up=1)
        judge(lab, "brokers back", 6, is_steady=False)

    replaced = lab.size(1, 3)
    for i in range(replaced):
        lab.say(f"worker {i} leaves and comes back")
        fleet.stop(i)
        fleet.start(i)
        judge(lab, f"worker {i} replaced", 6, is_steady=False)

    if lab.long:
        for count in (1, 8, 1):
            lab.say(f"{count} workers")
            while len(fleet.alive) > count:
                fleet.stop(max(fleet.workers))
            for i in range(count):
                if i not in fleet.workers:
                    fleet.start(i)
            judge(lab, f"scaled to {count} workers", 10, is_steady=False)
    time.sleep(4)
    judge(lab, "calm again", lab.size(6, 20))
    load.end()
    lab.end()


def without_topic(lab: Lab) -> None:
    """The fleet's topic may not be used: each worker has the share of its partitions, and says so, until it may."""
    load = begin(lab, 3, has_topic=False)
    lab.steady()

    def all_say(usable: int) -> bool:
        return all(w.metric("locsearch_fleet_topic_usable") == usable for w in lab.fleet.alive)

    lab.until(lambda: all_say(0), 20, "the workers to say that the topic cannot be used")
    time.sleep(4)
    judge(lab, "no right to the topic, even load", 6)
    load.shape = lambda i: 0
    time.sleep(6)
    judge(lab, "no right to the topic, all on one partition", 6, is_steady=False)
    lab.broker.ask(topicError={"topic": lab.topics.fleet, "error": "NO_ERROR"})
    lab.until(lambda: all_say(1), 30, "the workers to say that the topic can be used again")
    time.sleep(4)
    judge(lab, "the topic may be used, all on one partition", 6)
    load.end()
    lab.end()


OPTIONS: dict[str, Any] = {"needs": SETTINGS, "broker": "mock", "library": "new", "alone": True}
EXPERIMENTS = [
    Experiment(
        "fleet-rate-limit",
        "3 workers share one key's limit by demand: 95 % of it used wherever the work lies, and never more",
        by_demand,
        seconds=(150, 400),
        **OPTIONS,
    ),
    Experiment(
        "fleet-changes",
        "workers killed, stopped, replaced, and brokers away: the fleet's limit is never exceeded",
        changes,
        seconds=(180, 400),
        **OPTIONS,
    ),
    Experiment(
        "fleet-without-topic",
        "without the fleet's topic, workers share the limit by partitions",
        without_topic,
        seconds=(90, 120),
        **OPTIONS,
    ),
    Experiment(
        "fleet-by-partitions",
        "what the share by partitions leaves unused, to compare",
        by_partitions,
        seconds=(90, 200),
        **OPTIONS,
    ),
]
