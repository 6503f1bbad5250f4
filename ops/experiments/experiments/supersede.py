"""A newer request of a session ends the one in flight; never the other way round, also after a crash."""

import time

from harness.lab import Experiment, Lab
from harness.traffic import request


def run(lab: Lab) -> None:
    sessions, bursts, each = lab.size((40, 3, 4), (200, 30, 4))
    lab.begin(partitions=6)
    lab.provider.latency(400)
    fleet = lab.workers(2, worker__concurrency=512)
    n = 0
    for burst in range(bursts):
        for _step in range(each):
            for s in range(sessions):
                n += 1
                lab.sender.send(
                    f"r{n}", request(f"r{n}", n, sessionId=f"s{s}"), f"s{s}", s % lab.partitions, session=f"s{s}"
                )
            lab.sender.flush()
            time.sleep(0.05)
        if burst == bursts // 2:
            fleet.kill(0)  # What was in flight is read again, and must not end the newer searches that came after it.
            fleet.start(0)
        time.sleep(0.8)
    lab.end()
    superseded = lab.counts().get("superseded", 0)
    most = sessions * (bursts * each - 1)  # All may be superseded but the last of each session.
    lab.figure(
        "superseded",
        f"{superseded}; {sessions * bursts * (each - 1)} had a newer one within 50 ms, {most} had one at all",
    )
    lab.figure("calls broken off", lab.provider.aborted())
    lab.check(superseded <= most, "more were superseded than can be")
    lab.check(superseded >= 0.7 * sessions * bursts * (each - 1), "too few were superseded")
    lab.check(lab.provider.aborted() > 0, "no transfer was broken off")


EXPERIMENTS = [
    Experiment(
        "supersede",
        "a session's newer search cancels the one in flight, never the reverse, also after a crash",
        run,
        library="new",
        seconds=(90, 300),
    )
]
