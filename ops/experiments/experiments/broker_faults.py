"""Request errors of every kind that a worker meets, then brokers that go away and come back, under load."""

import time

from harness.lab import Experiment, Lab

RETRIABLE = ["NOT_LEADER_FOR_PARTITION", "REQUEST_TIMED_OUT", "_TRANSPORT"]
GROUP = ["COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"]
STEPS = [
    ("Produce", RETRIABLE + ["NOT_ENOUGH_REPLICAS"]),
    ("Fetch", RETRIABLE),
    ("OffsetCommit", GROUP),
    ("Heartbeat", GROUP[:2]),
    ("Metadata", ["_TRANSPORT", "LEADER_NOT_AVAILABLE"]),
    ("FindCoordinator", GROUP[:1]),
    ("OffsetCommit", ["REBALANCE_IN_PROGRESS", "_TRANSPORT"]),
]
BROKERS = 3


def run(lab: Lab) -> None:
    workers, rounds, rate = lab.size((2, 1, 300), (4, 6, 600))
    lab.begin(partitions=12, broker_count=BROKERS)
    lab.require_faults()
    lab.provider.latency(30)
    lab.workers(workers)
    done = False
    load = lab.sender.start(1_000_000, rate, until=lambda: done, ahead=20_000)
    for _round in range(rounds):
        for api, errors in STEPS:
            lab.say(f"errors for {api}")
            lab.broker.tell(fail={"api": api, "errors": errors * 3})
            time.sleep(lab.size(0.6, 2))
            lab.broker.tell(clear={"api": api})
        for broker in range(1, BROKERS + 1) if lab.long else [2]:
            lab.say(f"broker {broker} down")
            lab.broker.tell(down=broker)
            time.sleep(lab.size(2, 4))
            lab.broker.tell(up=broker)
            lab.steady()
        # When the coordinator's answer was lost, a worker may have lost its partitions, which costs as much as its
        # crash.
        lab.recorder.add("kill", worker="all, by the broker", losses=workers)
    done = True
    load.join()
    lab.audit()
    lab.end(settle=90)


EXPERIMENTS = [
    Experiment(
        "broker-faults",
        "request errors on every API and brokers that go and come back: nothing lost",
        run,
        library="new",
        seconds=(150, 1200),
    )
]
