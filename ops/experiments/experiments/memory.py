"""Memory over time while nothing goes forward, or a great deal waits: it must stay flat, and nothing may be lost."""

import time

from harness.lab import Experiment, Lab
from harness.processes import resident_bytes
from harness.report import sparkline
from harness.traffic import request
from harness.workers import Worker

GROWTH_MB, GROWTH = 8, 1.10  # The second half's peak may exceed the first half's by so much.


def judge(lab: Lab, since: float, what: str) -> None:
    """Checks that memory is flat: once the worker is warm, it grows no more than malloc's noise."""
    sizes = lab.watch.megabytes(since=since)
    if len(sizes) < 8:
        lab.recorder.problem(f"only {len(sizes)} samples of memory")
        return
    half = len(sizes) // 2
    early, late = max(sizes[:half]), max(sizes[half:])
    lab.figure(
        f"memory {what}, MB",
        f"{min(sizes):.0f}..{max(sizes):.0f} over {lab.recorder.now - since:.0f} s  {sparkline(sizes)}",
    )
    lab.figure(
        "MB at each tenth", " ".join(f"{sizes[min(len(sizes) - 1, i * len(sizes) // 10)]:.0f}" for i in range(11))
    )
    lab.check(late <= max(early * GROWTH, early + GROWTH_MB), f"memory grew from {early:.0f} MB to {late:.0f} MB")


def hanging(lab: Lab) -> None:
    """The provider never answers, so each request takes its whole deadline and the rest waits in the topic."""
    total, stuck = lab.size((4_000, 8), (40_000, 60))
    lab.begin(partitions=8)
    lab.provider.faults(1.0, "hang")
    lab.workers(
        1,
        worker__concurrency=256,
        worker__deadline="2s",
        if_known={"providers.hotpepper.breaker.enabled": False, "providers.hotpepper.adaptiveConcurrency": False},
    )
    lab.recorder.add("params", allowed=0)
    lab.sender.many(total)
    time.sleep(2)
    began = lab.recorder.now
    time.sleep(stuck)
    judge(lab, began, "while the provider hangs")
    lab.provider.faults(0.0)
    lab.provider.latency(5)
    lab.end(settle=120)


def refused(lab: Lab) -> None:
    """Every produce of an outcome is refused (and retried) for a while."""
    total, stuck = lab.size((20_000, 8), (100_000, 60))
    lab.begin(partitions=8)
    lab.require_faults()
    lab.provider.latency(5)
    lab.sender.many(total)
    lab.broker.tell(fail={"api": "Produce", "errors": ["NOT_ENOUGH_REPLICAS"] * 2000})
    # The mock does not check sequence numbers: it would accept a partition's second batch while it refuses the first,
    # as no real broker does, and the client would then take the first for written as well. So only one request is in
    # flight.
    lab.workers(1, worker__concurrency=256, client={"max.in.flight.requests.per.connection": 1})
    lab.recorder.add("params", allowed=0)
    end = time.monotonic() + stuck
    began = lab.recorder.now
    while time.monotonic() < end:
        lab.broker.tell(fail={"api": "Produce", "errors": ["NOT_ENOUGH_REPLICAS"] * 200})
        time.sleep(0.2)
    judge(lab, began, "while the broker refuses outcomes")
    lab.broker.tell(clear={"api": "Produce"})
    lab.end(settle=120)


def backlog(lab: Lab) -> None:
    """All requests are there before the worker starts."""
    total, partitions = lab.size(
        (150_000, 8), (1_000_000, 64)
    )  # So many that the worker is warm before the first half is over.
    lab.begin(partitions=partitions, results=16)
    lab.provider.latency(1)
    lab.recorder.add("params", allowed=0)
    lab.sender.many(total)
    lab.say(f"{total} requests wait")
    lab.workers(1, worker__concurrency=256)
    began = lab.recorder.now
    lab.settle(lab.size(150, 900), idle=30)
    took = lab.recorder.now - began
    judge(lab, began, f"with {total} requests waiting in {partitions} partitions")
    lab.figure("requests per second", round(total / took))
    lab.end()


# What a worker counts for a request that waits for its turn, beside the bytes of its record: for the request itself,
# each of its headers, and the line of a tenant of which nothing else waits. See WaitingRoom.swift.
COUNTED_REQUEST, COUNTED_HEADER, COUNTED_LINE = 768, 64, 704
TENANT_OF_ITS_OWN = 20  # Each such request has a tenant of its own; the others have one together.


def waiting(lab: Lab) -> None:
    """Batch requests are read ahead and wait, first some and then four times as many. The difference is the memory that
    they take: the worker itself does not count."""
    few, many = lab.size((8_000, 32_000), (50_000, 200_000))
    lab.begin(partitions=lab.size(8, 32), results=16)
    lab.recorder.add("params", allowed=0)
    lab.provider.faults(1.0, "hang")
    lab.workers(
        1,
        topics__requests=f"{lab.topics.requests}:interactive+batch",
        worker__fairBy="header:tenant",
        worker__lookAheadBytes=1 << 30,
        worker__concurrency=64,
        worker__deadline="20s",
        providers__hotpepper__breaker__enabled=False,
        providers__hotpepper__adaptiveConcurrency=False,
    )
    worker = lab.fleet.workers[0]
    sizes, waits, counted = [], [], 0
    for begin, end in ((0, few), (few, many)):
        counted = sum(send_batch(lab, i) for i in range(begin, end))
        lab.sender.flush()
        # Those that began do not wait any more, and more of them begin whenever a call has timed out.
        lab.until(lambda: lab.recorder.finished + open_requests(worker) >= end, 90, f"{end} requests to wait", 1)
        time.sleep(2)
        waits.append(worker.metric("locsearch_requests_waiting"))
        sizes.append(resident_bytes(worker.process.pid))

    grown, more = sizes[1] - sizes[0], waits[1] - waits[0]
    each, most = grown / max(1, more), counted / (many - few)
    lab.figure(
        "requests that wait", f"{waits[0]:.0f} and {waits[1]:.0f}, {sizes[0] / 1e6:.0f} and {sizes[1] / 1e6:.0f} MB"
    )
    lab.figure("bytes for a request that waits", f"{each:.0f}, and {most:.0f} are counted")
    lab.check(each <= most * GROWTH, f"a request that waits takes {each:.0f} bytes, and {most:.0f} are counted")
    lab.provider.faults(0.0)
    lab.end(settle=lab.size(90, 600))


def open_requests(worker: Worker) -> float:
    return worker.metric("locsearch_requests_waiting") + worker.metric("locsearch_requests_open")


def send_batch(lab: Lab, number: int) -> int:
    """Sends a batch request with the usual headers. Returns the bytes that a worker counts for it."""
    id = f"r{number}"
    is_alone = number % TENANT_OF_ITS_OWN == 0
    headers = {
        "ce_specversion": "1.0",
        "ce_type": "location-search.requested.v1",
        "ce_source": "/memory",
        "ce_id": id,
        "ce_time": "2026-11-26T07:44:00.123Z",
        "content-type": "application/json",
        "tenant": id if is_alone else "job",
    }
    value = request(id, number, priority="batch")
    lab.sender.send(id, value, id, headers=[(name, text.encode()) for name, text in headers.items()])

    size = len(id) + len(value) + sum(len(name) + len(text) for name, text in headers.items())
    return size + COUNTED_REQUEST + COUNTED_HEADER * len(headers) + (COUNTED_LINE if is_alone else 0)


EXPERIMENTS = [
    Experiment(
        "memory-hanging", "the provider never answers: memory stays flat, nothing lost", hanging, seconds=(90, 400)
    ),
    Experiment(
        "memory-refused",
        "the broker refuses every outcome: memory stays flat, nothing lost",
        refused,
        seconds=(90, 400),
    ),
    Experiment(
        "memory-backlog", "1,000,000 requests wait: memory stays flat, nothing lost", backlog, seconds=(240, 1500)
    ),
    Experiment(
        "memory-waiting",
        "a request that is read ahead and waits takes no more memory than is counted of worker.lookAheadBytes",
        waiting,
        needs={"worker.lookAheadBytes": 1 << 26},
        broker="mock",
        library="new",
        seconds=(180, 900),
    ),
]
