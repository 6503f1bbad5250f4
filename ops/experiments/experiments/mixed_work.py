"""Who waits for whom: requests of people and quiet tenants, beside a batch job or a flood, at one key's limit."""

import statistics
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.lab import Experiment, Lab
from harness.traffic import request

from experiments.daily_budget import far_from_midnight

LIMIT, BURST, LATENCY_MS = 100, 10, 20
# In the short form, others may use the machine: so many times as long may the quiet producers wait, and at least this
# share of the limit is used. Where all are alike, they wait for as long as the flood takes.
SHORT_WAIT, SHORT_USE = 3, 0.9
# On a busy machine, calls of one second may reach the provider in the next: those of a quarter of a second.
LATE = LIMIT // 4


class Waits:
    """How long each request of the quiet producers took beyond its provider's latency, in milliseconds."""

    def __init__(self, lab: Lab):
        self.lab = lab
        self.sent: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.refused = 0
        self.first_refusal: float | None = None
        # What came of the flood.
        self.flood_results, self.flood_errors = 0, 0
        self.last_flood_result = 0.0
        lab.reader.on_outcome = self._note

    def _note(self, event: dict, value, message) -> None:
        id, now, is_error = event.get("id", ""), time.monotonic(), event["kind"] == "error"
        if id.startswith("flood"):
            self.flood_errors += is_error
            self.flood_results += not is_error
            if not is_error:
                self.last_flood_result = now
        began = self.sent.get(id)
        if began is None or id in self.took:
            return
        self.refused += is_error
        if is_error and self.first_refusal is None:
            self.first_refusal = now
        self.took[id] = (now - began) * 1000 - LATENCY_MS

    def send(self, id: str, number: int, place: int | None, tenant: str, **members) -> None:
        self.sent[id] = time.monotonic()
        self.lab.sender.send(id, request(id, number, **members), id, place, headers=[("tenant", tenant.encode())])

    def p99(self, of: Iterable[str] | None = None) -> float:
        took = list(self.took.values()) if of is None else [self.took[id] for id in of if id in self.took]
        return statistics.quantiles(took, n=100)[98] if len(took) > 1 else float("nan")


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


def send_steadily(rate: float, send: Callable[[int], None], more: Callable[[int], bool]) -> int:
    """Sends the quiet producers' requests at their rate while there are to be `more`. Returns their number."""
    began, number = time.monotonic(), 0
    while more(number):
        if (wait := began + number / rate - time.monotonic()) > 0:
            time.sleep(wait)
        send(number)
        number += 1
    return number


def during(seconds: float) -> Callable[[int], bool]:
    end = time.monotonic() + seconds
    return lambda number: time.monotonic() < end


def measure(
    lab: Lab, row: str, waits: Waits, seconds: float, rate: float, send: Callable[[int], None], most_ms: float | None
) -> None:
    """Sends the quiet producers' requests at their rate, and judges their waits and how much of the limit was used."""
    waits.sent.clear()
    waits.took.clear()
    waits.refused = 0
    lab.provider.reset()
    number = send_steadily(rate, send, during(seconds))
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
        p99, most_ms = waits.p99(), lab.size(SHORT_WAIT * most_ms, most_ms)
        lab.check(p99 <= most_ms, f"{row}: p99 of the added wait is {p99:.0f} ms, at most {most_ms} may be")
        lab.check(used >= lab.size(SHORT_USE, 0.97), f"{row}: only {used:.1%} of the limit was used")
        lab.check(waits.refused == 0, f"{row}: {waits.refused} requests of the quiet producers failed")


@dataclass(frozen=True)
class Mix:
    """Who sends beside the flood, and how long they may wait."""

    name: str
    rate: float  # requests a second, of all quiet producers
    most_ms: float  # p99 of their added wait
    tenant: Callable[[int], str]
    of_flood: dict[str, str]  # members of its requests
    of_quiet: dict[str, str]

    def send(self, waits: Waits, name: str, number: int, place: int | None = None) -> None:
        waits.send(f"{name}{number}", number, place, self.tenant(number), **self.of_quiet)


CLASSES = Mix(
    "interactive beside batch",
    rate=20,
    most_ms=300,
    tenant=lambda i: "person",
    of_flood={"priority": "batch"},
    of_quiet={"priority": "interactive"},
)
TENANTS = Mix(
    "nine quiet tenants beside a flood",
    rate=45,
    most_ms=500,
    tenant=lambda i: f"quiet{i % 9}",
    of_flood={},
    of_quiet={},
)


def beside(mix: Mix) -> Callable[[Lab], None]:
    """Measures the quiet producers beside a flood over all partitions, and beside one in a single partition."""

    def run(lab: Lab) -> None:
        waits = begin(lab, is_fair=True)
        for name, place in (("spread", None), ("one partition", 0)):
            flood(lab, lab.size(2500, 50_000 if place is None else 20_000), place, **mix.of_flood)
            time.sleep(2)

            def send(i: int, name: str = name, place: int | None = place) -> None:
                mix.send(waits, name[:3], i, place)

            measure(lab, f"{mix.name}, {name}", waits, lab.size(15, 60), mix.rate, send, mix.most_ms)
            if not lab.long:
                lab.settle(60)
        lab.end(settle=lab.size(90, 1200))

    return run


def alike(lab: Lab) -> None:
    """The same load where all requests are alike, to compare."""
    waits = begin(lab, is_fair=False)
    flood(lab, lab.size(2500, 50_000), None)
    time.sleep(2)
    measure(
        lab, "all alike", waits, lab.size(10, 30), 20, lambda i: waits.send(f"a{i}", i, None, "person"), most_ms=None
    )
    lab.end(settle=lab.size(120, 1200))


class Outage(threading.Thread):
    """Kills a worker with -9, and notes which partitions had no owner from when to when."""

    def __init__(self, lab: Lab, calm: float):
        super().__init__(daemon=True)
        self.lab, self.calm = lab, calm
        self.began, self.ended = 0.0, 0.0
        self.owned: set[int] = set()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            time.sleep(self.calm)
            self._kill(0)
            time.sleep(self.calm)
        except (OSError, RuntimeError, TimeoutError) as problem:
            self.failure = problem

    def _kill(self, worker: int) -> None:
        fleet, self.began = self.lab.fleet, time.monotonic()
        self.owned = {int(one["partition"]) for one in fleet.workers[worker].status()["assignment"]}
        self.lab.say(f"kill -9 of worker {worker}, which has the partitions {sorted(self.owned)}")
        fleet.kill(worker)
        self.lab.until(
            lambda: sum(fleet.shares().values()) == self.lab.partitions, 60, "the others to have its partitions"
        )
        self.ended = time.monotonic()

    def touches(self, partition: int, at: float) -> bool:
        """Returns whether a request that was sent to this partition at this time waited for a new owner: it was sent
        while there was none, or so shortly before that the killed worker may have had it.
        """
        return partition in self.owned and self.began - 1 <= at <= self.ended


def most_beyond_limit(lab: Lab) -> int:
    """Returns by how much the calls of any number of whole seconds in a row exceeded the limit."""
    most = excess = 0
    for calls in lab.provider.arrivals().values():
        excess = max(0, excess + calls - LIMIT)
        most = max(most, excess)
    return most


def killed(mix: Mix) -> Callable[[Lab], None]:
    """Measures the quiet producers beside a flood while one of three workers is killed with -9."""

    def run(lab: Lab) -> None:
        waits = begin(lab, is_fair=True, providers__hotpepper__burst=BURST)
        flood(lab, lab.size(3_000, 50_000), None, **mix.of_flood)
        time.sleep(2)
        lab.provider.reset()
        waits.sent.clear()
        outage = Outage(lab, calm=lab.size(4, 200))
        outage.start()

        number = send_steadily(
            mix.rate, lambda i: mix.send(waits, "quiet", i, i % lab.partitions), more=lambda _: outage.is_alive()
        )
        if outage.failure:
            raise outage.failure
        stats, excess = lab.provider.stats(), most_beyond_limit(lab)
        used = stats["requests"] / (LIMIT * stats["elapsedMs"] / 1000)
        lab.end(settle=lab.size(60, 1200))

        # The identifiers follow each other as the requests were sent.
        apart = [id for i, (id, at) in enumerate(waits.sent.items()) if not outage.touches(i % lab.partitions, at)]
        with_owner = waits.p99(apart)
        lab.figure("p99 of the added wait, of all", f"{waits.p99():.0f} ms, {number} requests of the quiet producers")
        lab.figure(
            "p99 of the added wait, less those whose partition had no owner",
            f"{with_owner:.0f} ms, {len(apart)} of these requests",
        )
        lab.figure("seconds until the partitions had an owner", round(outage.ended - outage.began, 1))
        lab.figure(
            "of the limit",
            f"{used:.1%} used, at most {stats['maxInAnySecond']} calls in any second, and {excess} more than the limit "
            "over any number of seconds",
        )
        # The mock cluster takes no commits for the seconds of a rebalance, in which no worker begins anything. In the
        # short form, the waits of what came meanwhile are more than one in a hundred on any broker.
        if lab.long and lab.broker.kind not in ("mock", "embedded"):
            lab.check(with_owner <= mix.most_ms, f"p99 is {with_owner:.0f} ms, at most {mix.most_ms} may be")
        lab.check(excess <= BURST + LATE, f"{excess} calls more than the limit, {BURST + LATE} may be")
        lab.check(len(waits.took) == number, f"{number - len(waits.took)} requests of the quiet producers are lost")
        lab.check(waits.refused == 0, f"{waits.refused} of {number} requests of the quiet producers failed")

    return run


def budget(lab: Lab) -> None:
    """20 interactive requests a second beside a batch job; the last tenth of the day's budget is kept for them."""
    calls = lab.size(1_000, 50_000)
    kept = calls // 10
    waits = begin(
        lab,
        is_fair=True,
        providers__hotpepper__callsPerDay=calls,
        providers__hotpepper__callsPerDayReserved="10%",
        providers__hotpepper__dayBegins=far_from_midnight(),
    )
    first = lab.provider.calls()
    flood(lab, lab.size(2_000, 50_000), None, priority="batch")
    made = 0

    def has_more(than: int) -> Callable[[int], bool]:
        def more(number: int) -> bool:
            nonlocal made
            if number % 5 == 0:
                made = lab.provider.calls()
            return made < calls - than and waits.refused == 0

        return more

    # Each worker has some calls reserved, so one of them may have none while another has the last ones.
    number = send_steadily(20, lambda i: CLASSES.send(waits, "person", i), has_more(kept // 5))
    refused, served = waits.refused, waits.flood_results
    lab.check(refused == 0, f"an interactive request was refused after {made} of {calls} calls")

    lab.say("the last calls are used up")
    offset = number
    number += send_steadily(20, lambda i: CLASSES.send(waits, "person", offset + i), has_more(0))
    lab.settle(60)
    total = lab.provider.calls()
    lab.end(settle=lab.size(60, 1200))

    batch, results = waits.flood_results, len(waits.took) - waits.refused
    lab.figure("calls", f"{total} of {calls}, {kept} of them kept for interactive requests; {first} before the flood")
    lab.figure("interactive", f"{results} of {number} answered, the first was refused after {made} calls")
    lab.figure("batch", f"{batch} answered, {waits.flood_errors} refused")
    lab.check(total <= calls, f"{total} calls were made, the budget has {calls}")
    lab.check(batch == served, f"{batch - served} batch requests were answered with calls that are kept")
    # What a worker knows of the others' reservations is a moment old.
    lab.check(batch <= calls - kept + 10, f"{batch} batch requests were answered, at most {calls - kept} may be")
    lab.check(batch >= (calls - kept) // 2, f"only {batch} batch requests were answered")
    lab.check(waits.flood_errors > 0, "no batch request was refused")
    if waits.first_refusal:
        lab.check(
            waits.first_refusal > waits.last_flood_result,
            "an interactive request was refused while batch requests were answered",
        )


OPTIONS: dict[str, Any] = {"broker": "mock", "library": "new"}
EXPERIMENTS = [
    Experiment(
        "mixed-classes",
        "interactive requests are served at once beside a batch job at the key's limit, which is used up",
        beside(CLASSES),
        needs={"worker.fairBy": "header:tenant"},
        seconds=(240, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-tenants",
        "nine quiet tenants are served at once beside one that floods, in one class",
        beside(TENANTS),
        needs={"worker.fairBy": "header:tenant"},
        seconds=(240, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-alike",
        "how long the same requests wait where all are alike, to compare",
        alike,
        seconds=(240, 2400),
        alone=True,
        **OPTIONS,
    ),
    Experiment(
        "mixed-kill",
        "one of three workers is killed beside a batch job: nothing is lost, no interactive request fails, never more "
        "calls than the limit",
        killed(CLASSES),
        needs={"worker.fairBy": "header:tenant"},
        seconds=(120, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-kill-tenants",
        "the same with nine quiet tenants beside one that floods, in one class",
        killed(TENANTS),
        needs={"worker.fairBy": "header:tenant"},
        seconds=(120, 2400),
        **OPTIONS,
    ),
    Experiment(
        "mixed-budget",
        "a batch job uses up all but the last tenth of a day's budget: no interactive request is refused meanwhile",
        budget,
        needs={"providers.hotpepper.callsPerDay": 1000, "providers.hotpepper.callsPerDayReserved": "10%"},
        seconds=(120, 2400),
        **OPTIONS,
    ),
]
