"""Workers share a day's budget of calls and are killed meanwhile: the provider's own counter says what was called."""

import json
import random
import time

from harness.lab import Experiment, Lab, run_command
from harness.workers import environment

SETTINGS = {"providers.hotpepper.callsPerDay": 1000, "providers.hotpepper.dayBegins": "UTC"}


def run(lab: Lab) -> None:
    budget, kills, rate, workers = lab.size((1_500, 4, 250, 3), (20_000, 25, 400, 4))
    settings = {"providers.hotpepper.callsPerDay": budget, "providers.hotpepper.dayBegins": far_from_midnight()}
    # Duplicates do not matter here; `kill-9` is about them.
    lab.recorder.add("params", allowed=1_000_000)
    lab.begin(partitions=12, errors=8)
    lab.provider.latency(20)
    fleet = lab.workers(workers, worker__deadline="10s", **{k.replace(".", "__"): v for k, v in settings.items()})
    lab.steady()
    lab.provider.reset()
    done = False
    load = lab.sender.start(10_000_000, rate, until=lambda: done, ahead=8 * rate)

    chance, killed = random.Random(1), 0
    for i in range(kills):
        # By the calls, not by the clock: a machine that stands still for a moment makes many at once.
        due = 0.8 * budget * (i + 0.5) / kills
        lab.until(lambda: lab.provider.calls() >= due, 60, f"{due:.0f} calls")
        victim = chance.choice(sorted(fleet.workers))
        lab.say(f"kill -9 of worker {victim} after {lab.provider.calls()} calls")
        fleet.kill(victim)
        fleet.start(victim)
        killed += 1
        judge(lab, budget, "while workers are killed")

    wait_until_used_up(lab)
    said, calls = ask(lab, settings)[0], judge(lab, budget, "at the end")
    lab.figure(
        "budget used up",
        f"{calls} of {budget} calls made; {said['reserved']} reserved by {killed} workers that were "
        f"killed; {said['used']} told of",
    )
    lab.check(said["left"] == 0 and said["used"] + said["reserved"] == budget, f"`locsearch budget` says {said}")
    lab.check(
        calls <= said["used"] + said["reserved"],
        f"{calls} calls were made, {said['used'] + said['reserved']} were taken",
    )
    # A worker reserves for the calls of a second at its own pace, or less when less is left.
    stranded = budget - calls
    bound = killed * 1.5 * rate / workers
    lab.figure(
        "stranded", f"{stranded} calls by {killed} kills, {stranded / max(1, killed):.1f} each; {bound:.0f} may be"
    )
    lab.check(stranded <= bound, f"{stranded} calls were stranded by {killed} kills, {bound:.0f} may be")

    lab.say("all workers are replaced")
    for i in sorted(fleet.workers):
        fleet.stop(i)
        fleet.start(i)
    fleet.wait_ready(60)
    time.sleep(2)
    lab.check(
        judge(lab, budget, "after a restart of all workers") == calls,
        "calls were made after a restart although the budget was used up",
    )

    more = budget // 10
    lab.say(f"a person gives {more} calls more")
    ask(lab, settings, "set", "hotpepper", str(budget + more), "--yes")
    lab.until(
        lambda: lab.provider.calls() >= calls + more,
        40,
        f"{more} calls more ({lab.provider.calls() - calls} were made)",
    )
    time.sleep(2)
    after = judge(lab, budget + more, "after a person has raised the budget")
    lab.figure(f"{more} calls more by `locsearch budget set`", f"{after - calls} made")
    done = True
    load.join()
    lab.end()


def judge(lab: Lab, budget: int, when: str) -> int:
    calls = lab.provider.calls()
    lab.check(calls <= budget, f"{when}: {calls} calls, the budget has {budget}")
    return calls


def ask(lab: Lab, settings: dict, *command: str) -> list[dict]:
    """Runs `locsearch budget` for the workers' group and requests topic, to which their budget belongs."""
    fleet = {
        "kafka.groupId": lab.topics.group,
        "topics.requests": lab.topics.requests,
        "topics.fleet": lab.topics.fleet,
    }
    own = environment(
        settings
        | fleet
        | {
            "kafka.bootstrapServers": lab.broker.bootstrap,
            "kafka.properties": f"fetch.wait.max.ms={lab.broker.fetch_wait_ms}",
        }
    )
    answer = run_command([lab.options.locsearch, "budget", *(command or ["--json"])], own | lab.clock_environment)
    if answer.returncode:
        raise RuntimeError(f"`locsearch budget` ended with {answer.returncode}: {answer.stderr.strip()}")
    return [] if command else [json.loads(line) for line in answer.stdout.splitlines()]


def wait_until_used_up(lab: Lab) -> None:
    """Waits until no calls have been made for some seconds: what idle workers held has been given back and used by
    then.
    """
    last, since = -1, time.monotonic()
    end = time.monotonic() + 120
    while time.monotonic() < end:
        calls = lab.provider.calls()
        if calls != last:
            last, since = calls, time.monotonic()
        elif time.monotonic() - since > 8 and all(has_none_left(w.status()) for w in lab.fleet.alive):
            return
        time.sleep(0.2)
    raise TimeoutError("the budget was not used up within 120 s")


def has_none_left(status: dict) -> bool:
    return any(
        any(b["left"] == 0 for b in p.get("budgets", [])) and p.get("breakerReason") == "budget-used-up"
        for p in status.get("providers", [])
    )


def far_from_midnight() -> str:
    """Returns a time zone in which it is about noon, so that no day ends during the experiment."""
    hours = time.gmtime().tm_hour - 12
    return f"Etc/GMT{hours:+d}" if hours else "UTC"


EXPERIMENTS = [
    Experiment(
        "daily-budget",
        "workers are killed while a day's budget is used up: never more calls than it has, few stranded, "
        "kept through restarts",
        run,
        needs=SETTINGS,
        broker="mock",
        library="new",
        seconds=(150, 420),
    )
]
