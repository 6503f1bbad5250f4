"""From one worker to four and back under load: no outcome may be repeated."""

from harness.lab import Experiment, Lab


def run(lab: Lab) -> None:
    rate = lab.size(300, 800)
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=12)
    lab.provider.latency(30)
    fleet = lab.workers(1, client=lab.patience)
    done = False
    load = lab.sender.start(lab.size(60_000, 400_000), rate, until=lambda: done)
    for i in range(1, 4):
        lab.say(f"worker {i} joins")
        fleet.start(i)
        if lab.long:
            lab.steady()
    lab.steady()
    for i in range(1, 4):
        lab.say(f"worker {i} leaves")
        status = fleet.stop(i)
        lab.check(status == 0, f"worker {i} ended with {status}")
        lab.steady()
    done = True
    load.join()
    lab.end()


EXPERIMENTS = [
    Experiment("scale", "1 -> 4 -> 1 workers under load: no duplicate at all", run, library="new", seconds=(240, 900))
]
