"""Outcomes of one key, or of one partition, leave in the order of their requests, however long each takes."""

from harness.lab import Experiment, Lab
from harness.provider import fault


def ordered(by: str):
    def run(lab: Lab) -> None:
        total, rate = lab.size((2_000, 400), (50_000, 800))
        lab.begin(partitions=6, results=3, errors=3)
        lab.provider.varied_latency(20, 250)
        fleet = lab.workers(2, worker__ordering=by, if_known={"providers.hotpepper.breaker.enabled": False})

        def keyword(i: int) -> str | None:  # Now and then a request holds up its key until its deadline.
            return fault("hang") if i % 397 == 0 else None

        # Requests flow until the last crash is over, so that each crash meets work.
        done = False
        load = lab.sender.start(
            1_000_000, rate, until=lambda: done and lab.recorder.sent >= total, keys=60, keyword=keyword, timeoutMs=800
        )
        for _ in range(lab.size(1, 8)):
            lab.steady()
            fleet.kill(0)
            fleet.start(0)
        lab.steady()
        done = True
        load.join()
        lab.end(settle=lab.size(60, 300))

    return run


EXPERIMENTS = [
    Experiment(
        f"ordering-{by}",
        f"worker.ordering={by}: the outcomes of each {by} in the order of its requests, through crashes",
        ordered(by),
        needs={"worker.ordering": by},
        library="new",
        seconds=(90, 600),
    )
    for by in ("key", "partition")
]
