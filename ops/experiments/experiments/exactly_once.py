"""worker.delivery = exactly-once through kill -9, frozen workers and rebalances."""

import random
import time

from harness.brokers import TansuBroker, Unfit
from harness.lab import Experiment, Lab
from harness.transactions import Ledger, Relay
from harness.workers import Fleet


def run(lab: Lab) -> None:
    rate, kills = lab.size((200, 3), (500, 30))
    kind = lab.options.broker or "tansu"
    if kind in ("mock", "embedded"):
        raise Unfit("the mock cluster does not apply the offsets of a transaction")
    lab.recorder.add("params", allowed=0)
    ledger = begin_on_tansu(lab) if kind == "tansu" else None
    if not ledger:
        lab.begin(partitions=8, kind=kind, isolation="read_committed")  # The broker of this run hides aborted records.
    lab.provider.latency(30)
    # Longer than a worker is frozen, so that it can end the transaction that it had begun. The partitions of a worker
    # that was killed wait for as long.
    fleet = lab.workers(3, client={"transaction.timeout.ms": 15_000}, worker__delivery="exactly-once")
    if not ledger:
        disturb(lab, fleet, rate, kills)
        return lab.end(settle=120)
    try:
        disturb(lab, fleet, rate, kills)
    finally:  # A run that could not go on is judged by what it did.
        lab.sender.ended = True
        try:
            lab.check(lab.commits_catch_up(60), "finished requests were left uncommitted")
            lab.check(not any(fleet.stop_all()), "a worker did not end with 0 after SIGTERM")
        finally:
            ledger.feed(lab.recorder, lab.topics)
    lab.figure("transactions", ledger.summary())
    lab.figure("records read, aborted ones too", lab.reader.read)
    lab.violations += ledger.faults()[:20]
    if ledger.unread:
        lab.recorder.problem(f"{ledger.unread} compressed batches could not be looked into")


def disturb(lab: Lab, fleet: Fleet, rate: int, kills: int) -> None:
    chance, done = random.Random(5), False
    load = lab.sender.start(1_000_000, rate, until=lambda: done, ahead=0)
    for n in range(kills):
        settled(lab)
        victim = chance.choice(sorted(fleet.workers))
        if n % 3 == 2:  # The pause exceeds the session timeout, so the worker must find itself fenced when it wakes.
            fleet.freeze(victim)
            time.sleep(lab.broker.session_ms / 1000 + 4)
            fleet.thaw(victim)
        else:
            fleet.kill(victim)
            fleet.start(victim)
    done = True
    load.join()


def begin_on_tansu(lab: Lab) -> Ledger:
    lab.require_settings(lab.experiment.needs)
    ledger = Ledger()
    relay = Relay(ledger)
    broker = TansuBroker(lab.processes, advertised=relay.port)
    relay.forward_to(broker.port)
    lab.begin(partitions=8, kind="tansu", broker=broker, observe=False)
    return ledger


def settled(lab: Lab) -> None:
    lab.steady(60)
    time.sleep(1)


EXPERIMENTS = [
    Experiment(
        "exactly-once",
        "kills, frozen workers, rebalances: each outcome in one committed transaction, with exactly its offsets",
        run,
        needs={"worker.delivery": "exactly-once"},
        broker="tansu",
        library="new",
        seconds=(180, 1500),
    )
]
