"""The provider's capacity is cut to a quarter under load: with adaptive concurrency, in-flight falls and work goes
on.
"""

import time

from harness.lab import Experiment, Lab

LATENCY_MS, CAPACITY = 100, 40  # 400 answers a second, 100 after the cut
DEADLINE_S = 2.0


def run(lab: Lab) -> None:
    lab.recorder.add("params", allowed=0)
    lab.begin(errors=8)
    figures = {}
    for adaptive in (True, False):
        figures[adaptive] = one(lab, adaptive)
    good, p99 = figures[True]
    best = CAPACITY / 4 / (LATENCY_MS / 1000)
    lab.check(good >= 0.9 * best, f"adaptive: {good:.0f}/s of the {best:.0f}/s that the provider can do")
    lab.check(p99 < DEADLINE_S, f"adaptive: p99 {p99:.2f} s, the deadline is {DEADLINE_S} s")
    lab.end()


def one(lab: Lab, adaptive: bool) -> tuple[float, float]:
    """Successful answers per second and p99 seconds of them, with the cut capacity."""
    lab.provider.latency(LATENCY_MS)
    lab.provider.capacity(CAPACITY)
    took: list[tuple[float, float]] = []
    lab.reader.on_outcome = lambda e, v, m: (
        took.append((lab.recorder.now, v["timing"]["upstreamMs"] / 1000)) if e["kind"] == "result" else None
    )
    fleet = lab.workers(
        1,
        worker__concurrency=256,
        worker__deadline=f"{DEADLINE_S:.0f}s",
        providers__hotpepper__adaptiveConcurrency=adaptive,
        if_known={"providers.hotpepper.breaker.enabled": False, "providers.hotpepper.singleFlight": False},
    )
    done = False
    name = "adaptive" if adaptive else "fixed"
    load = lab.sender.start(1_000_000, 350, until=lambda: done, prefix=name, ahead=20_000)
    time.sleep(10)  # The same in both forms, because what the limit has learnt decides how fast it falls.
    lab.provider.capacity(CAPACITY // 4)
    time.sleep(5)  # The limit has this long to find its new measure.
    began = lab.recorder.now
    time.sleep(lab.size(20, 30))
    ended = lab.recorder.now
    seen = sorted(s for t, s in list(took) if began <= t < ended)
    done = True
    load.join()
    lab.provider.capacity(None)
    lab.provider.latency(1)
    lab.settle(60)
    if adaptive:
        lab.check(lab.commits_catch_up(20), "finished requests were left uncommitted")
        fleet.stop_all()
    good, p99 = len(seen) / (ended - began), seen[int(len(seen) * 0.99)] if seen else float("inf")
    lab.figure(f"{name}, capacity cut to a quarter", f"{good:.0f} answers/s, p99 {p99:.2f} s")
    return good, p99


EXPERIMENTS = [
    Experiment(
        "adaptive",
        "capacity cut to a quarter: goodput >= 90 %, p99 within the deadline; a fixed limit beside it",
        run,
        needs={"providers.hotpepper.adaptiveConcurrency": True},
        seconds=(120, 300),
        alone=True,
    )
]
