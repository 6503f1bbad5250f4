"""Four workers share one key's limit: the provider's own counter says whether they keep to it and use it."""
import time

from harness.lab import Experiment, Lab

LIMIT, BURST = 200, 20
SETTINGS = {"providers.hotpepper.requestsPerSecond": LIMIT, "providers.hotpepper.burst": BURST}


def run(lab: Lab) -> None:
    workers, calm = 4, lab.size(5, 30)
    # Duplicates do not matter here; `scale` and `rolling-restart` are about them. The mock does not wait for members that
    # finish what they have, and refuses their commits.
    lab.recorder.add("params", allowed=100_000)
    lab.begin(partitions=12, errors=8)
    lab.provider.latency(20)
    # A rebalance of the mock takes the session timeout less 1 s, that of other brokers only as long as the members need. With
    # a short session both take about as long. The deadline and the heartbeat interval are shorter still, because the mock
    # does not wait for a member that has yet to hear of the rebalance or to finish what it has.
    session = {"session.timeout.ms": 1500, "heartbeat.interval.ms": 100} if lab.broker.can_fail else None
    fleet = lab.workers(workers, client=session, worker__concurrency=256, worker__deadline="300ms", **{k.replace(".", "__"): v for k, v in SETTINGS.items()})
    done = False
    load = lab.sender.start(1_000_000, 2 * LIMIT, until=lambda: done, ahead=50_000)
    lab.steady()
    lab.provider.reset()
    time.sleep(calm)
    judge(lab, "calm")
    lab.provider.reset()
    # The part of the limit that moves is nobody's until the group has agreed, so each change costs some of it. A change every
    # four seconds is more than a roll-out makes.
    replaced = lab.size(2, 4)
    for i in range(replaced):
        lab.say(f"worker {i} leaves and comes back")
        fleet.stop(i)
        fleet.start(i)
        lab.steady(calm=2.5)
    judge(lab, f"{replaced} workers replaced one after another")
    lab.provider.reset()
    lab.say("a fifth worker comes")
    fleet.start(workers)
    lab.steady(calm=2.5)
    lab.say("and goes")
    fleet.stop(workers)
    lab.steady(calm=2.5)
    judge(lab, "a fifth comes and goes")
    done = True
    load.join()
    lab.end()


def judge(lab: Lab, when: str) -> None:
    stats = lab.provider.stats()  # The counts since the last reset.
    elapsed = stats["elapsedMs"] / 1000
    used = stats["requests"] / (LIMIT * elapsed)
    # The provider counts over every window of 1 s, wherever it begins. Calls by second of the clock would hide a burst that
    # lies across two of them.
    most = lab.provider.most_in_one_second()
    whole = [n for _, n in sorted(lab.provider.arrivals().items())[1:-1]]
    lab.figure(f"limit {LIMIT}/s, burst {BURST}, {when}", f"at most {most} calls in any second, at least {min(whole, default='?')}; {used:.1%} of the limit used over {elapsed:.1f} s")
    lab.check(most <= LIMIT + BURST, f"{when}: {most} calls in one second, {LIMIT + BURST} may be")
    lab.check(used >= 0.95, f"{when}: only {used:.1%} of the limit was used")


EXPERIMENTS = [Experiment("fleet-rate-limit", "4 workers share one key's limit: never above it by more than the burst, 95 % of it used", run, needs=SETTINGS, broker="mock", library="new", seconds=(90, 300), alone=True)]
