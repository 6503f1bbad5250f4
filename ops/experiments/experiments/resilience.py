"""A provider in trouble: retries within a budget, the breaker, the fallback, single flight."""

import time

from harness.lab import Experiment, Lab
from harness.traffic import request

ONE = "providers.hotpepper."


def outage(lab: Lab) -> None:
    """Every call fails for a while, and retries must not multiply the calls."""
    seconds, rate = lab.size((8, 200), (60, 300))
    lab.recorder.add("params", allowed=0)
    lab.begin(errors=8)
    lab.provider.latency(10)
    lab.workers(2, if_known={ONE + "breaker.enabled": False, ONE + "singleFlight": False})
    lab.sender.many(rate * 2, rate, prefix="before")
    lab.settle(20)
    lab.provider.faults(1.0, "503")
    lab.provider.reset()
    lab.sender.many(rate * seconds, rate, prefix="during")
    lab.settle(30)
    calls = lab.provider.calls()
    lab.provider.faults(0.0)
    lab.end()
    lab.figure("calls per request while all fail", f"{calls / (rate * seconds):.3f}")
    # The budget looks back 10 s, so the requests from before the outage count in it as well.
    retries, requests = calls - rate * seconds, rate * (seconds + 2)
    lab.check(retries <= 0.2 * requests, f"{retries} retries for {requests} requests: more than a fifth")


def breaker(lab: Lab) -> None:
    """The breaker opens when calls fail, lets requests fail at once, and closes when the provider is back."""
    rate = 200
    lab.recorder.add("params", allowed=0)
    lab.begin(errors=8)
    lab.provider.latency(10)
    waits: list[int] = []
    lab.reader.on_outcome = lambda e, v, m: (
        waits.append(v["error"].get("retryAfterMs", -1)) if e.get("code") == "circuit-open" else None
    )
    lab.workers(1, providers__hotpepper__breaker__enabled=True, providers__hotpepper__breaker__openDuration="2s")
    # The breaker counts the calls of 10 s: with more that succeed, more must fail before it opens.
    lab.sender.many(rate // 2, rate, prefix="before")
    lab.settle(20)
    lab.check(lab.counts() == {"result": rate // 2}, f"before the failure: {lab.counts()}")
    lab.provider.reset()
    lab.provider.faults(1.0, "500")
    lab.sender.many(rate * 5, rate, prefix="failing")
    lab.settle(20)
    calls, rejected = lab.provider.calls(), lab.counts().get("circuit-open", 0)
    lab.figure("while it fails", f"{calls} calls for {rate * 5} requests, {rejected} ended as circuit-open")
    lab.check(calls < rate * 2, f"{calls} calls went to a provider that fails")
    lab.check(rejected > rate * 2, f"only {rejected} ended as circuit-open")
    lab.check(bool(waits) and min(waits) >= 0, "a circuit-open outcome says no retryAfterMs")
    lab.provider.faults(0.0)
    time.sleep(2.5)
    lab.sender.many(rate, rate / 4, prefix="probe")
    before = lab.counts()["result"]
    lab.sender.many(rate * 2, rate, prefix="after")
    lab.settle(20)
    lab.figure("after it is back", f"{lab.counts()['result'] - before} of {rate * 2} succeeded")
    lab.check(lab.counts()["result"] - before >= 0.98 * rate * 2, "the breaker did not close")
    bad_key(lab, rate)
    lab.end()


def bad_key(lab: Lab, rate: int) -> None:
    """A refused key opens the breaker at once. An answer that is the request's own fault never opens it."""
    calls = lab.provider.calls()
    lab.provider.faults(1.0, "2000")  # By this code Hot Pepper says that the key is not valid.
    lab.sender.many(rate, rate, prefix="key")
    lab.settle(20)
    lab.provider.faults(0.0)
    lab.figure("with a refused key", f"{lab.provider.calls() - calls} calls for {rate} requests")
    lab.check(
        lab.provider.calls() - calls <= 70, "calls went on with a key that is refused"
    )  # These were in flight when the breaker opened.


def fallback(lab: Lab) -> None:
    """`auto` moves on to the next provider; a request that names one stays with it."""
    each = lab.size(200, 2_000)
    lab.recorder.add("params", allowed=0)
    lab.begin(errors=8)
    lab.provider.latency(10)
    answered: dict[str, str | None] = {}
    tried: dict[str, list] = {}

    def look(event: dict, value: dict | None, message) -> None:
        answered[event["id"]] = value.get("provider")
        tried[event["id"]] = value.get("triedProviders", [])

    lab.reader.on_outcome = look
    failing = lab.another_provider()
    failing.faults(1.0, "503")
    lab.workers(
        1,
        providers__order="hotpepper,google-places",
        hotpepper__baseURL=failing.base_url,
        if_known={ONE + "breaker.enabled": False},
    )
    for i in range(each):
        lab.sender.send(f"auto{i}", request(f"auto{i}", i, provider="auto"), f"a{i}")
        lab.sender.send(f"named{i}", request(f"named{i}", i), f"n{i}")
    lab.end()
    moved = sum(answered[f"auto{i}"] == "google-places" for i in range(each))
    stayed = sum(answered[f"named{i}"] == "hotpepper" for i in range(each))
    lab.figure(
        "answered by the next provider", f"{moved} of {each} auto requests; {each - stayed} of {each} that named one"
    )
    lab.check(moved == each, f"{each - moved} auto requests did not fall back")
    lab.check(stayed == each, f"{each - stayed} requests left the provider that they named")
    said = sum("hotpepper" in tried[f"auto{i}"] for i in range(each))
    lab.check(said == each, f"only {said} outcomes say that Hot Pepper was tried")


def single_flight(lab: Lab) -> None:
    """Identical searches in flight share one call; each request has its own outcome."""
    rounds, same = lab.size((3, 100), (20, 200))
    lab.recorder.add("params", allowed=0)
    lab.begin()
    lab.provider.latency(500)
    for on in (True, False):
        fleet = lab.workers(1, worker__concurrency=512, providers__hotpepper__singleFlight=on)
        lab.provider.reset()
        for r in range(rounds):
            for i in range(same):
                id = f"{on}{r}-{i}"
                lab.sender.send(id, request(id, 1000 * r + (500_000 if on else 0)), id)
            lab.settle(30)
        calls = lab.provider.calls()
        lab.figure(
            f"single flight {'on' if on else 'off'}", f"{calls} calls for {rounds * same} requests, {rounds} different"
        )
        lab.check(
            calls <= rounds * same * 0.1 if on else calls >= rounds * same,
            f"{calls} calls for {rounds * same} requests with singleFlight={on}",
        )
        if on:
            lab.check(lab.commits_catch_up(20), "finished requests were left uncommitted")
            fleet.stop_all()
    lab.end()


EXPERIMENTS = [
    Experiment(
        "outage",
        "every call fails: with the retry budget at most 1.2 calls per request",
        outage,
        needs={ONE + "maxAttempts": 3},
    ),
    Experiment(
        "breaker",
        "opens on failures and on a refused key, says when to come back, closes again",
        breaker,
        needs={ONE + "breaker.enabled": True, ONE + "breaker.openDuration": "2s"},
    ),
    Experiment(
        "fallback",
        "auto moves to the next provider and says so; a named provider is never left",
        fallback,
        needs={"providers.order": "hotpepper,google-places"},
    ),
    Experiment(
        "single-flight",
        "identical searches in flight share one call, each gets its own outcome",
        single_flight,
        needs={ONE + "singleFlight": True},
        seconds=(60, 300),
    ),
]
