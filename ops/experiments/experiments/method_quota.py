"""Workers share the quotas of single methods: the provider's own counters say whether they keep to each and use it."""

import contextlib
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from typing import Any

from harness.lab import Experiment, Lab
from harness.traffic import request

from .rate_limit import PARTITIONS, zipf

LIMITS = {"searchNearby": 100, "searchText": 60}
MEMBERS: dict[str, dict] = {"searchNearby": {}, "searchText": {"keyword": "ramen"}}
WAITING_S = 3
SETTINGS = {
    "providers.googlePlaces.methodLimits": ",".join(f"{method}={limit}" for method, limit in LIMITS.items()),
    "providers.googlePlaces.limitMode": "shared",
}


def burst(limit: int) -> float:
    """Returns the burst of a method's limit: a tenth of a second, at least one call."""
    return max(1, limit / 10)


class Load(threading.Thread):
    """Requests for each method that wait all the time, in the partitions that `shapes` choose at the moment.

    Those of a method are its quota of `WAITING_S` seconds, however many wait for the other one.
    """

    def __init__(self, lab: Lab):
        super().__init__(daemon=True)
        self.lab = lab
        self.shapes: dict[str, Callable[[int], int]] = dict.fromkeys(LIMITS, lambda i: i % PARTITIONS)
        self._done: Counter = Counter()
        self._stopped = threading.Event()
        lab.reader.on_outcome = self._count

    def _count(self, event: dict, value: Any, message: Any) -> None:
        self._done[event.get("id", "").partition("-")[0]] += 1

    def run(self) -> None:
        sent: Counter = Counter()
        while not self._stopped.wait(0.01):
            for method, limit in LIMITS.items():
                while sent[method] - self._done[method] < WAITING_S * limit:
                    number = sent[method]
                    id = f"{method}-{number}"
                    value = request(id, number, provider="google-places", **MEMBERS[method])
                    self.lab.sender.send(id, value, id, self.shapes[method](number))
                    sent[method] += 1
        self.lab.sender.flush()

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)


class Standstill(threading.Thread):
    """Measures for how long the provider's process gets no CPU, by requests that it answers at once and does not count.

    Calls that arrive meanwhile are read in one go afterwards, so that its windows show more than the workers sent.
    """

    def __init__(self, lab: Lab):
        super().__init__(daemon=True)
        self.url, self.longest = lab.provider.base_url + "/_sim/none", 0.0
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(0.02):
            began = time.monotonic()
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(self.url, timeout=10).close()
            self.longest = max(self.longest, time.monotonic() - began)

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)


def measure(lab: Lab, seconds: float, standstill: Standstill) -> tuple[dict, float]:
    """Reads the provider's counters over some seconds. They count over every window of 1 s, wherever that begins.

    When a limit is exceeded while the provider stood still, this is done again, at most twice.
    """
    for last in (False, False, True):
        standstill.longest = 0.0
        lab.provider.reset()
        time.sleep(seconds)
        stats, stood_still = lab.provider.stats(), standstill.longest
        methods = stats["apis"]["google-places"]["methods"]
        is_exceeded = any(methods[m]["maxInAnySecond"] > limit + burst(limit) for m, limit in LIMITS.items())
        if last or not is_exceeded or stood_still < 0.05:
            break
        lab.say(f"the provider stood still for {stood_still:.2f} s; measured again")
    return stats, stood_still


def judge(lab: Lab, row: str, seconds: float, standstill: Standstill) -> None:
    stats, stood_still = measure(lab, seconds, standstill)
    elapsed, methods = stats["elapsedMs"] / 1000, stats["apis"]["google-places"]["methods"]
    for method, limit in LIMITS.items():
        used, most = methods[method]["requests"] / (limit * elapsed), methods[method]["maxInAnySecond"]
        lab.say(f"{row}, {method}: {used:.1%} used, at most {most}")
        lab.figure(
            f"{row}, {method}", f"{used:.1%} of {limit}/s used over {elapsed:.1f} s, at most {most} in any second"
        )
        lab.check(
            most <= limit + burst(limit),
            f"{row}, {method}: {most} calls in one second, {limit} may be; provider stood still: {stood_still:.2f} s",
        )
        lab.check(used >= 0.95, f"{row}, {method}: only {used:.1%} of the limit was used")


def run(lab: Lab) -> None:
    # Duplicates do not matter here; `scale` and `rolling-restart` are about them.
    lab.recorder.add("params", allowed=100_000)
    lab.begin(partitions=PARTITIONS, errors=8)
    lab.provider.latency(20)
    chosen: dict[str, Any] = {k.replace(".", "__"): v for k, v in SETTINGS.items()}
    lab.workers(3, worker__concurrency=256, worker__deadline="30s", **chosen)
    load = lab._observe(Load(lab))
    standstill = lab._observe(Standstill(lab))
    lab.steady()
    assigned = [[p["partition"] for p in w.status()["assignment"]] for w in lab.fleet.alive]

    def row(name: str, nearby: Callable[[int], int], text: Callable[[int], int]) -> None:
        load.shapes = {"searchNearby": nearby, "searchText": text}
        time.sleep(WAITING_S + 2)  # Until what lay elsewhere is done.
        judge(lab, name, lab.size(6, 30), standstill)

    row("both even", lambda i: i % PARTITIONS, lambda i: i % PARTITIONS)
    row("both by Zipf's law", zipf(1.1, PARTITIONS), zipf(1.1, PARTITIONS))
    row("each at one worker of three", lambda i: assigned[0][i % len(assigned[0])], lambda i: assigned[1][0])
    standstill.stop()
    load.stop()
    lab.end()


EXPERIMENTS = [
    Experiment(
        "method-quota",
        "3 workers share the quotas of two methods: 95 % of each used wherever the work lies, and never more",
        run,
        needs=SETTINGS,
        broker="mock",
        library="new",
        seconds=(100, 250),
        alone=True,
    )
]
