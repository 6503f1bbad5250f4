"""Requests that waited too long (by their record's time) end as expired and cost no call."""

import time

from harness.lab import Experiment, Lab
from harness.traffic import request

AGES_S = {"expired": 60.0, "result": 0.0}


def run(lab: Lab) -> None:
    each = lab.size(300, 5_000)
    lab.recorder.add("params", allowed=0)
    lab.begin()
    lab.provider.latency(10)
    lab.workers(1, worker__maxAge="20s")
    for i in range(2 * each):
        want = list(AGES_S)[i % 2]
        lab.sender.send(
            f"{want}{i}", request(f"{want}{i}", i), f"k{i}", timestamp_ms=int((time.time() - AGES_S[want]) * 1000)
        )
    lab.sender.flush()
    lab.end()
    for want in AGES_S:
        got = lab.counts().get(want, 0)
        lab.check(got == each, f"{got} of {each} ended as {want}")
    calls = lab.provider.calls()
    lab.figure("calls to the provider", f"{calls} for {each} fresh requests")
    lab.check(calls == each, f"{calls} calls for {each} fresh requests")


EXPERIMENTS = [
    Experiment(
        "stale-requests",
        "worker.maxAge: old requests end as expired, and no call is made for them",
        run,
        needs={"worker.maxAge": "20s"},
    )
]
