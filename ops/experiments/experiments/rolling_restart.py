"""Every worker in turn is asked to end and is replaced: no outcome may be repeated."""

from harness.lab import Experiment, Lab


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


EXPERIMENTS = [
    Experiment(
        "rolling-restart",
        "each worker stopped and replaced under load: no duplicate at all",
        run,
        library="new",
        seconds=(240, 900),
    )
]
