"""Every worker in turn is asked to end and is replaced: no outcome may be repeated."""

from collections.abc import Callable

from harness.lab import Experiment, Lab
from harness.provider import rarely_slow


def run(lab: Lab) -> None:
    workers, rate = lab.size((3, 300), (4, 1_000))
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=12)
    lab.provider.latency(30)
    fleet = lab.workers(workers, client=lab.patience)
    done = False
    load = lab.sender.start(lab.size(60_000, 400_000), rate, until=lambda: done)
    for _round in range(lab.size(1, 3)):
        for i in range(workers):
            lab.say(f"restart of worker {i}")
            status = fleet.stop(i)
            lab.check(status == 0, f"worker {i} ended with {status}")
            fleet.start(i)
            lab.steady()
    done = True
    load.join()
    lab.end()


def beside_slow_requests(delivery: str) -> Callable[[Lab], None]:
    """A worker that ends waits for its slow requests. One that hands partitions over to a newcomer waits 10 s for them,
    and the newcomer makes those calls again: calls are repeated, and outcomes are not."""

    def run(lab: Lab) -> None:
        workers, rate = lab.size((3, 200), (4, 200))
        lab.recorder.add("params", allowed=0)
        lab.begin_delivering(delivery, partitions=12)
        lab.provider.latency(30)
        fleet = lab.workers_delivering(delivery, workers, client=lab.patience, worker__shutdownGrace="35s")
        done = False
        load = lab.sender.start(1_000_000, rate, until=lambda: done, keyword=rarely_slow, timeoutMs=30_000)
        for i in range(workers):
            lab.steady(90, past_offsets=True)
            lab.say(f"restart of worker {i}")
            status = fleet.stop(i, within=60)
            lab.check(status == 0, f"worker {i} ended with {status}")
            fleet.start(i)
        lab.steady(90, past_offsets=True)
        done = True
        load.join()
        lab.end(settle=120)
        lab.figure("calls made again", lab.provider.calls() - lab.recorder.sent)

    return run


EXPERIMENTS = [
    Experiment(
        "rolling-restart",
        "each worker stopped and replaced under load: no duplicate at all",
        run,
        library="new",
        seconds=(240, 900),
    ),
    *(
        Experiment(
            "rolling-restart-slow" if delivery == "at-least-once" else "rolling-restart-slow-exactly-once",
            f"the same with 1 % of the requests slow, {delivery}, and a grace beyond them: no duplicate at all",
            beside_slow_requests(delivery),
            library="new",
            seconds=(400, 900),
        )
        for delivery in ("at-least-once", "exactly-once")
    ),
]
