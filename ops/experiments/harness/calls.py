"""Compares the calls that the providers received with those that the workers counted, answered for and were charged.

The providers' own count is what is billed. Everything that a worker says of its calls must be as high, or higher: a
worker counts a call before it is sent, and some are never sent.

A worker's count is known where its metrics were read after its last call: while it runs, or after SIGTERM with no
request open any more. A worker that was killed, or whose last metrics came earlier, may have made calls that it did not
report: at most as many as it may have in flight, `worker.concurrency`. The providers may have received so many more,
and at least the attempts that the outcomes name. Where a worker left no metrics at all, only that is compared.
"""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field

CALLS, BY_PRICE = "locsearch_provider_calls_total", "locsearch_provider_calls_by_sku_total"
BUDGET = "locsearch_provider_budget"
BUDGET_SPENT = ("locsearch_provider_budget_used", "locsearch_provider_budget_reserved")


@dataclass
class Counts:
    """The calls by provider, as one side knows them."""

    received: Counter = field(default_factory=Counter)  # By the providers.
    counted: Counter = field(default_factory=Counter)  # By the workers whose metrics were read.
    priced: Counter = field(default_factory=Counter)  # The same by price class: these have ended.
    budgets: dict[str, float] = field(default_factory=dict)  # Used and reserved, of providers with a budget.
    attempts: int = 0  # In one outcome of each request.
    unreported: int = 0  # The most calls that killed workers made after their metrics were read.
    silent: int = 0  # Workers of which no metrics were read.
    in_flight: int = 0  # Calls that the providers have not answered yet.


def faults(counts: Counts) -> list[str]:
    """Returns what is wrong with the counts, one line for each."""
    found = []
    received = sum(counts.received.values())
    known = sum(counts.counted.values()) + counts.unreported
    if not counts.silent:
        # The calls that killed workers did not report may have gone to any provider.
        for provider, calls in sorted(counts.received.items()):
            if calls > counts.counted[provider] + counts.unreported:
                found.append(
                    f"{provider} received {calls} calls, the workers counted {counts.counted[provider]} "
                    f"and may have made {counts.unreported} more"
                )
            ended = counts.priced[provider] + counts.in_flight + counts.unreported
            if calls > ended:
                found.append(f"{provider} received {calls} calls, {counts.priced[provider]} of them have a price class")
        if counts.attempts > known:
            found.append(f"the outcomes name {counts.attempts} attempts, the workers counted {known} calls at most")
    if not counts.unreported and not counts.silent:
        for provider, spent in sorted(counts.budgets.items()):
            if counts.received[provider] > spent:
                found.append(f"{provider} received {counts.received[provider]} calls, its budget has {spent:.0f}")
    elif counts.attempts > received:
        found.append(f"the outcomes name {counts.attempts} attempts, the providers received {received} calls")
    return found


class LastMetrics(threading.Thread):
    """Reads a worker's metrics until its process has ended, and keeps the last ones."""

    def __init__(self, worker):
        super().__init__(daemon=True)
        self.worker = worker
        self.metrics: dict[str, float] = {}

    def run(self) -> None:
        while True:
            self.metrics = self.worker.metrics() or self.metrics
            if not self.worker.alive:
                return
            time.sleep(0.05)


def count(providers: list, fleets: list, attempts: int) -> Counts:
    """Reads all counts. The providers come first, because workers that run count calls before they are sent."""
    counts = Counts(attempts=attempts)
    for provider in providers:
        counts.received.update(provider.received())
        counts.in_flight += provider.stats()["inFlight"]
    for fleet in fleets:
        concurrency = int(fleet.settings["worker.concurrency"])
        for worker in fleet.all:
            metrics, is_known = last_metrics(worker)
            if not metrics:
                counts.silent += 1
                continue
            counts.unreported += 0 if is_known else concurrency
            add(metrics, counts)
    return counts


def last_metrics(worker) -> tuple[dict[str, float], bool]:
    """Returns a worker's last metrics, and whether they were read after its last call."""
    if worker.alive and worker.leaving is None:
        return worker.metrics(), True
    if worker.leaving is None:  # It was killed, or ended by itself.
        return worker.at_kill, False
    worker.leaving.join(10)
    return worker.leaving.metrics, worker.leaving.metrics.get("locsearch_requests_open") == 0


def parsed(metrics: str) -> dict[str, float]:
    """Returns each value by its `name{labels}`."""
    found = {}
    for line in metrics.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


def add(metrics: dict[str, float], counts: Counts) -> None:
    for name, value in metrics.items():
        family, _, labels = name.partition("{")
        provider = labels.partition('provider="')[2].partition('"')[0]
        if family == CALLS:
            counts.counted[provider] += int(value)
        elif family == BY_PRICE:
            counts.priced[provider] += int(value)
        # The account of all calls of the day; others count some of the calls, or money.
        elif family == BUDGET and value > 0 and f'account="{provider}"' in labels:
            spent = sum(metrics.get(f"{part}{{{labels}", 0) for part in BUDGET_SPENT)
            # Of workers that tell different things, the one that heard last tells most.
            counts.budgets[provider] = max(counts.budgets.get(provider, 0), spent)
