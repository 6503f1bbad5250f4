"""A month ends while workers share its budgets and are killed: the provider's own ledger equals theirs to the call."""

import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.budget_log import BudgetLog
from harness.lab import Experiment, Lab
from harness.wall_clock import end_of_next_month

from .daily_budget import ask

ZONE = "America/Los_Angeles"  # Google's billing calendar.
ALL, TEXT = "google-places/month", "google-places/text-search-enterprise/month"


class Month:
    """One month of the provider and of the budgets."""

    def __init__(self, lab: Lab, log: BudgetLog, label: str, limits: dict[str, int], settings: dict):
        self.lab, self.log, self.label, self.limits, self.settings = lab, log, label, limits, settings
        self.killed = 0
        self.before = received(lab)

    def calls(self, account: str = ALL) -> int:
        """Returns the calls that the provider received in this month."""
        return received(self.lab)[account] - self.before[account]

    def uses_up(self, kills: int, within: float) -> None:
        """Kills workers, one after another, while the budgets are used up."""
        fleet, chance = self.lab.fleet, random.Random(kills)
        for i in range(kills):
            due = 0.8 * self.limits[ALL] * (i + 0.5) / kills
            self.lab.until(lambda due=due: self.calls() >= due, within, f"{due:.0f} calls of {self.label}")
            victim = chance.choice(sorted(fleet.workers))
            self.lab.say(f"{self.label}: kill -9 of worker {victim} after {self.calls()} calls")
            fleet.kill(victim)
            fleet.start(victim)
            self.killed += 1
            self.never_more()
        self.lab.until(self._is_used_up, within, f"the budgets of {self.label} to be used up", 0.2)

    def _is_used_up(self) -> bool:
        """Returns True once nothing is left and no worker that lives has reserved calls, for two seconds."""
        before = self._state()
        if before is None:
            return False
        time.sleep(2)
        return self._state() == before

    def _state(self) -> tuple | None:
        self.log.read()
        accounts = [self.log.accounts.get((name, self.label)) for name in self.limits]
        if any(not a or a.taken < self.limits[name] for a, name in zip(accounts, self.limits, strict=True)):
            return None
        reserved = [len(senders(a.reserved)) for a in accounts if a]
        return None if max(reserved) > self.killed else (tuple(received(self.lab).values()), tuple(reserved))

    def never_more(self) -> None:
        for account, limit in self.limits.items():
            calls = self.calls(account)
            self.lab.check(calls <= limit, f"{self.label}: {calls} calls of {account}, which has {limit}")

    def judge(self) -> None:
        """Compares the provider's ledger, `locsearch budget` and the fleet's topic."""
        self.never_more()
        self.log.read()
        lines = {line["account"]: line for line in ask(self.lab, self.settings)}
        for account, limit in self.limits.items():
            said, kept, calls = lines[account], self.log.accounts[account, self.label], self.calls(account)
            stranded = kept.reserved.total()
            unreported = calls - said["used"]
            self.lab.figure(
                f"{self.label} {account}",
                f"{calls} of {limit} calls received ({calls / limit:.1%}); `locsearch budget`: {said['used']} used, "
                f"{said['reserved']} reserved; {self.killed} killed workers had reserved {stranded} "
                f"and made {unreported} of these",
            )
            where = f"{self.label}, {account}"
            self.lab.check(said["period"] == self.label, f"{where}: `locsearch budget` shows {said['period']}")
            self.lab.check(calls >= 0.85 * limit, f"{where}: only {calls} of {limit} calls were made")
            self.lab.check(
                (said["used"], said["reserved"]) == (kept.made, stranded),
                f"{where}: `locsearch budget` shows {said}, the topic has {kept.made} used and {stranded} reserved",
            )
            self.lab.check(said["used"] + said["reserved"] == limit, f"{where}: `locsearch budget` shows {said}")
            # Each call that workers reported was received. Killed workers may have made what they had reserved.
            self.lab.check(
                0 <= unreported <= stranded,
                f"{where}: {calls} calls were received, {said['used']} are reported, killed workers had {stranded}",
            )


def received(lab: Lab) -> dict[str, int]:
    """Returns the calls that the provider received since the start, by account.

    These are what it bills, and those that kill -9 of a worker broke off before their answer.
    """
    stats = lab.provider.stats()["apis"]["google-places"]
    return {ALL: stats["requests"], TEXT: stats["methods"].get("searchText", {}).get("requests", 0)}


def judge_bills(lab: Lab) -> None:
    """Checks that the provider billed each call that it received, but for those that were broken off."""
    stats = lab.provider.stats()["apis"]["google-places"]
    billed, broken_off = sum(stats["skus"].values()), stats["aborted"]
    lab.figure("billed", f"{billed} of {stats['requests']} calls; {broken_off} were broken off by kills")
    # The few that were broken off while they were answered are in both.
    is_complete = billed <= stats["requests"] <= billed + broken_off
    lab.check(is_complete, f"{stats['requests']} calls received, {billed} billed, {broken_off} broken off")


def senders(reserved) -> set[str]:
    """Returns the processes that have reserved calls. Each of their loops is a sender, such as `6F3C1A52-9B1E-0`."""
    return {sender.rpartition("-")[0] for sender, units in reserved.items() if units}


def run(lab: Lab) -> None:
    total, text, rate, kills, first = lab.size((480, 180, 120, 2, 50), (4_000, 1_500, 200, 8, 180))
    midnight = end_of_next_month(ZONE)
    lab.move_clock(midnight - timedelta(seconds=first))
    settings: dict[str, Any] = {
        "providers.googlePlaces.budgets": f"all: {total}/month; text-search-enterprise: {text}/month",
        "providers.googlePlaces.dayBegins": ZONE,
    }
    # Duplicates do not matter here; `kill-9` is about them.
    lab.recorder.add("params", allowed=1_000_000)
    lab.begin(partitions=12, errors=8)
    lab.provider.latency(20)
    lab.workers(3, worker__deadline="10s", **{k.replace(".", "__"): v for k, v in settings.items()})
    log = BudgetLog(lab.broker.bootstrap, lab.topics.fleet, lab.broker.fetch_wait_ms)
    done = False
    load = lab.sender.start(
        10_000_000,
        rate,
        until=lambda: done,
        ahead=4 * rate,
        provider="google-places",
        keyword=lambda i: "ramen" if i % 2 else None,
    )

    def month(of: datetime) -> Month:
        return Month(lab, log, of.strftime("%Y-%m"), {ALL: total, TEXT: text}, settings)

    def to_midnight() -> float:
        return midnight.timestamp() - lab.clock.now()

    old = month(midnight - timedelta(days=1))
    old.uses_up(kills, to_midnight())
    old.judge()
    used_up = int(lab.clock.now())
    at_end = received(lab)
    lab.check(to_midnight() > 1, "the budgets were not used up before the month ended")

    lab.say(f"{to_midnight():.1f} s until {midnight.astimezone(UTC).isoformat()}")
    lab.until(lambda: to_midnight() < -0.05, 600, "midnight")
    new = month(midnight)
    new.before = at_end
    lab.until(lambda: new.calls() > 0, 20, "calls of the new month")
    new.uses_up(lab.size(1, kills), 100)
    new.judge()

    arrivals = lab.provider.arrivals()
    at = round(midnight.timestamp())
    lab.check(not any(n for s, n in arrivals.items() if used_up <= s < at), "calls were made after the month's last")
    opened = min(s for s, n in arrivals.items() if n and s >= at)
    lab.figure("first call of the new month", f"in second {opened - at} after midnight")
    lab.check(opened - at <= 6, f"the first call of the new month came {opened - at} s after midnight")

    more = total // 10
    lab.say(f"a person gives {more} calls more")
    used = {line["account"]: line["used"] for line in ask(lab, settings)}
    before = new.calls()
    ask(lab, settings, "set", ALL, str(total + more), "--yes")
    new.limits = {ALL: total + more, TEXT: text}
    new.uses_up(0, 40)
    added = new.calls() - before
    reported = {line["account"]: line["used"] for line in ask(lab, settings)}[ALL] - used[ALL]
    lab.figure("without kills", f"{more} calls more: {added} received, {reported} reported")
    lab.check(added == reported == more, f"{more} calls more: {added} were received, {reported} reported")
    done = True
    load.join()
    log.close()
    lab.end()
    judge_bills(lab)


EXPERIMENTS = [
    Experiment(
        "month-budget",
        "a month ends while its budgets are used up and workers are killed: the provider's ledger equals the fleet's",
        run,
        needs={"providers.googlePlaces.budgets": "all: 100/month"},
        broker="mock",
        library="new",
        seconds=(140, 500),
    )
]
