"""Time spent in the topic counts against the deadline, where the setting says so: what is over costs no call."""

import time

from harness.lab import Experiment, Lab, Skipped
from harness.provider import fault
from harness.traffic import request


def run(lab: Lab) -> None:
    each = lab.size(200, 2_000)
    lab.recorder.add("params", allowed=0)
    lab.begin(errors=8)
    lab.provider.latency(10)
    took: dict[str, int] = {}
    lab.reader.on_outcome = lambda e, v, m: took.__setitem__(e["id"], v["timing"]["upstreamMs"]) if v else None
    # A call that hangs is not made again, so that each request in time makes one call.
    lab.workers(1, worker__maxAge="60s", worker__concurrency=1024, providers__hotpepper__maxAttempts=1)
    now = time.time()
    for i in range(each):
        # The first is over when it is read, the second has 2 s of its 8 s left, and the third is fresh.
        lab.sender.send(f"over{i}", request(f"over{i}", i, timeoutMs=1000), timestamp_ms=int((now - 5) * 1000))
        lab.sender.send(
            f"half{i}",
            request(f"half{i}", i, timeoutMs=8000, keyword=fault("hang")),
            timestamp_ms=int((now - 6) * 1000),
        )
        lab.sender.send(f"fresh{i}", request(f"fresh{i}", i, timeoutMs=8000), timestamp_ms=int(time.time() * 1000))
    lab.sender.flush()
    lab.end()
    calls = lab.provider.calls()
    longest = max(took[f"half{i}"] for i in range(each))
    if calls >= 3 * each and longest > 7_500:
        raise Skipped("worker does not count time spent in Kafka against timeoutMs")
    lab.figure("calls", f"{calls} for {2 * each} requests in time and {each} that were over")
    # Were the time in Kafka not counted, it would be 8 s. A busy machine ends a call late.
    lab.figure("longest call of a request with 2 s left, ms", longest)
    lab.check(lab.counts().get("result") == each, f"{lab.counts()}: each fresh request should have its result")
    lab.check(calls <= 2 * each, "a request that was over when it was read went to the provider")
    lab.check(longest <= 4_000, f"a call took {longest} ms of a request that had 2,000 left")


EXPERIMENTS = [
    Experiment(
        "deadline-propagation",
        "time spent in Kafka counts: what is over costs no call",
        run,
        needs={"worker.maxAge": "60s"},
        seconds=(60, 120),
    )
]
