"""A provider that is slow, hangs, resets, cuts short or answers rubbish: each request still ends, in time, with the
right error.
"""

import random
from collections import Counter

from harness.lab import Experiment, Lab
from harness.provider import fault

DEADLINE_MS = 4_000
SLACK_MS = 1_000  # Of a machine that is busy.
# Each fault, by the simulator's name for it, and the error codes that it may end in.
CUT = {"bad-response", "unreachable"}
KINDS = {  # An HTML page from Hot Pepper is its notice of maintenance.
    "none": {"result"},
    "delay=300": {"result"},
    "hang": {"timeout"},
    "hang-body": {"timeout"},
    "drip=20000": {"timeout"},
    "reset": {"unreachable"},
    "close": CUT,
    "reset-body": CUT,
    "truncated": CUT,
    "cut-chunked": CUT,
    "cut": {"bad-response"},
    "bad-gzip": {"bad-response"},
    "garbage": {"bad-response"},
    "html": {"upstream-unavailable"},
    "xml": {"bad-response"},
    "empty": {"bad-response"},
    "deep": {"bad-response"},
    "shape": {"bad-response"},
    "huge=3": {"bad-response"},
    "500": {"upstream-unavailable"},
    "502": {"upstream-unavailable"},
    "503": {"upstream-unavailable"},
    "504": {"upstream-unavailable"},
    "404": {"upstream-rejected"},
    "413": {"upstream-rejected", "invalid-request"},
    "1000": {"upstream-unavailable"},
    "3000": {"invalid-request"},
}


def run(lab: Lab) -> None:
    total, rate = lab.size((1_500, 250), (30_000, 400))
    lab.recorder.add("params", allowed=0)
    lab.begin()
    lab.provider.latency(20)
    lab.workers(
        2,
        worker__concurrency=256,
        if_known={"providers.hotpepper.breaker.enabled": False, "providers.hotpepper.adaptiveConcurrency": False},
    )
    chance, expected = random.Random(2), {}
    late: list[str] = []
    unexpected: Counter = Counter()

    def kind(i: int) -> str | None:
        expected[f"r{i}"] = chance.choice(list(KINDS))
        return None if expected[f"r{i}"] == "none" else fault(expected[f"r{i}"])

    def look(event: dict, value: dict | None, message) -> None:
        if value and value["timing"].get("upstreamMs", 0) > DEADLINE_MS + SLACK_MS:
            late.append(f"{event['id']} ({expected.get(event['id'])}) took {value['timing']['upstreamMs']} ms")
        code = event.get("code") or "result"
        if code not in KINDS[expected.get(event["id"], "none")]:
            unexpected[f"fault {expected.get(event['id'])} ended as {code}"] += 1

    lab.reader.on_outcome = look
    lab.sender.many(total, rate, keyword=kind, timeoutMs=DEADLINE_MS)
    lab.end()
    for what, times in unexpected.items():
        lab.check(False, f"{what}, {times} times")
    lab.check(not late, f"{len(late)} took longer than their deadline, first {late[:1]}")
    lab.figure("calls per request", round(lab.provider.calls() / total, 2))


EXPERIMENTS = [
    Experiment(
        "provider-faults",
        "a slow, hanging, resetting, truncating, garbage provider: every request ends, in time, with the right error",
        run,
        seconds=(60, 300),
    )
]
