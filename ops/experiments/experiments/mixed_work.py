"""Who waits for whom: requests of people and quiet tenants, beside a batch job or a flood, at one key's limit."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from harness.lab import Experiment, Lab
from harness.traffic import request

LIMIT, LATENCY_MS = 100, 20


class Waits:
    """How long each request of the quiet producers took beyond its provider's latency, in milliseconds."""

    def __init__(self, lab: Lab):
        self.lab = lab
        self.sent: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.refused = 0
        lab.reader.on_outcome = self._note

    def _note(self, event: dict, value, message) -> None:
        began = self.sent.get(event.get("id", ""))
        if began is None or event["id"] in self.took:
            return
        self.refused += event["kind"] == "error"
        self.took[event["id"]] = (time.monotonic() - began) * 1000 - LATENCY_MS

    def send(self, id: str, number: int, place: int | None, tenant: str, **members) -> None:
        self.sent[id] = time.monotonic()
        self.lab.sender.send(id, request(id, number, **members), id, place, headers=[("tenant", tenant.encode())])

    def p99(self) -> float:
        return statistics.quantiles(self.took.values(), n=100)[98] if len(self.took) > 1 else float("nan")


def begin(lab: Lab, is_fair: bool, **settings) -> Waits:
    lab.recorder.add("params", allowed=100_000)
    lab.begin(partitions=6, errors=8)
    lab.provider.latency(LATENCY_MS)
    waits = Waits(lab)
    chosen: dict[str, Any] = {
        "providers.hotpepper.requestsPerSecond": LIMIT,
        # Without classes and tenants, no more may be in flight than get their turn before their deadline.
        "worker.concurrency": 256 if is_fair else 32,
        "worker.deadline": "30s",
    }
    if is_fair:
        chosen |= {"topics.requests": f"{lab.topics.requests}:interactive+batch", "worker.fairBy": "header:tenant"}
    chosen |= {name.replace("__", "."): value for name, value in settings.items()}
    lab.workers(3, client={"session.timeout.ms": 6000}, **{n.replace(".", "__"): v for n, v in chosen.items()})
    lab.sender.many(30, prefix="first", until=lambda: False)
    lab.settle(60)
    return waits


def flood(lab: Lab, count: int, place: int | None, **members) -> None:
    for i in range(count):
        lab.sender.send(
            f"flood{i}", request(f"flood{i}", 1000 + i, **members), f"flood{i}", place, headers=[("tenant", b"flood")]
        )
    lab.sender.flush()


def measure(
    lab: Lab, row: str, waits: Waits, seconds: float, rate: float, send: Callable[[int], None], most_ms: float | None
) -> None:
    """Sends the quiet producers' requests at their rate, and judges their waits and how much of the limit was used."""
    waits.sent.clear()
    waits.took.clear()
    waits.refused = 0
    lab.provider.reset()
    began = time.monotonic()
    number = 0
    while time.monotonic() - began < seconds:
        if (wait := began + number / rate - time.monotonic()) > 0:
            time.sleep(wait)
        send(number)
        number += 1
    stats = lab.provider.stats()
    used = stats["requests"] / (LIMIT * stats["elapsedMs"] / 1000)
    # What was not answered by then has waited for at least so long.
    end = time.monotonic()
    while most_ms is not None and len(waits.took) < number and time.monotonic() < end + 10:
        time.sleep(0.1)
    for id, at in waits.sent.items():
        waits.took.setdefault(id, (time.monotonic() - at) * 1000)
    lab.figure(
        row,
        f"p99 of the added wait {waits.p99():.0f} ms, p50 {statistics.median(waits.took.values()):.0f} ms, "
        f"{waits.refused} of {number} refused, {used:.1%} of the limit used",
    )
    if most_ms is not None:
        p99 = waits.p99()
        lab.check(p99 <= most_ms, f"{row}: p99 of the added wait is {p99:.0f} ms, at most {most_ms} may be")
        lab.check(used >= 0.97, f"{row}: only {used:.1%} of the limit was used")
        lab.check(waits.refused == 0, f"{row}: {waits.refused} requests of the quiet producers failed")


def beside(
    lab: Lab,
    row: str,
    waits: Waits,
    rate: float,
    most_ms: float,
    tenant: Callable[[int], str],
    of_flood: dict[str, str],
    of_quiet: dict[str, str],
) -> None:
    """Measures the quiet producers beside a flood over all partitions, and beside one in a single partition."""
    for name, place in (("spread", None), ("one partition", 0)):
        flood(lab, lab.size(2500, 50_000 if place is None else 20_000), place, **of_flood)
        time.sleep(2)

        def send(i: int, name: str = name, place: int | None = place) -> None:
            waits.send(f"{name[:3]}{i}", i, place, tenant(i), **of_quiet)

        measure(lab, f"{row}, {name}", waits, lab.size(15, 60), rate, send, most_ms)
        if not lab.long:
            lab.settle(60)
    lab.end(settle=lab.size(90, 1200))


def classes(lab: Lab) -> None:
    """20 interactive requests a second beside a batch job."""
    waits = begin(lab, is_fair=True)
    quiet, batch = {"priority": "interactive"}, {"priority": "batch"}
    beside(lab, "interactive beside batch", waits, 20, 300, lambda i: "person", batch, quiet)


def tenants(lab: Lab) -> None:
    """Nine tenants with 5 requests a second each beside one that floods, in one class."""
    waits = begin(lab, is_fair=True)
    beside(lab, "nine quiet tenants beside a flood", waits, 45, 500, lambda i: f"quiet{i % 9}", {}, {})


def alike(lab: Lab) -> None:
    """The same load where all requests are alike, to compare."""
    waits = begin(lab, is_fair=False)
    flood(lab, lab.size(2500, 50_000), None)
    time.sleep(2)
    measure(
        lab, "all alike", waits, lab.size(10, 30), 20, lambda i: waits.send(f"a{i}", i, None, "person"), most_ms=None
    )
    lab.end(settle=lab.size(120, 1200))


OPTIONS: dict[str, Any] = {"broker": "mock", "library": "new", "alone": True}
EXPERIMENTS = [
    Experiment(
        "mixed-classes",
        "interactive requests are served at once beside a batch job at the key's limit, which is used up",
        classes,
        needs={"worker.fairBy": "header:tenant"},
        seconds=(240, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-tenants",
        "nine quiet tenants are served at once beside one that floods, in one class",
        tenants,
        needs={"worker.fairBy": "header:tenant"},
        seconds=(240, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-alike",
        "how long the same requests wait where all are alike, to compare",
        alike,
        seconds=(240, 2400),
        **OPTIONS,
    ),
]
