"""An older worker and this one side by side in one group: forward, back and forward again, under load."""

from harness.lab import Experiment, Lab, Skipped, run_command


def run(lab: Lab) -> None:
    older = lab.options.older
    if not older:
        raise Skipped("which older program? --older PATH names one, for instance a build of the last release's tag")
    check_settings(lab, older)

    workers = 3
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=12)
    lab.provider.latency(30)
    newer = lab.options.locsearch
    fleet = lab.workers(0, wait=False, client=lab.patience)
    fleet.command = older
    fleet.start_all(workers)
    done = False
    load = lab.sender.start(lab.size(60_000, 400_000), lab.size(200, 600), until=lambda: done)

    # The way back matters as much: whoever finds a fault in a new version returns to the old one the same way.
    for program, what in ((newer, "the newer"), (older, "the older"), (newer, "the newer")):
        fleet.command = program
        for i in range(workers):
            lab.say(f"worker {i} is replaced by {what} program")
            status = fleet.stop(i)
            lab.check(status == 0, f"worker {i} ended with {status}")
            fleet.start(i)
            lab.steady()
    done = True
    load.join()
    lab.end()


def check_settings(lab: Lab, older: str) -> None:
    """Every setting of the older program still has its name."""
    gone = names(older) - names(lab.options.locsearch)
    lab.check(not gone, f"settings that the older program has and this one has not: {', '.join(sorted(gone))}")


def names(program: str) -> set[str]:
    lines = run_command([program, "config"], {}).stdout.splitlines()
    return {line.split()[0] for line in lines if "." in line.partition(" ")[0]}


EXPERIMENTS = [
    Experiment(
        "upgrade",
        "an older program's workers replaced one by one, back and forth, under load: nothing lost, no duplicate at all",
        run,
        library="new",
        seconds=(300, 900),
    )
]
