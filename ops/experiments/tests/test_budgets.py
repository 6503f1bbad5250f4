"""The reading of the fleet's topic by which budgets are judged, and the moved wall clock."""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from harness.budget_log import Account, BudgetLog
from harness.wall_clock import WallClock, end_of_next_month

NAME, PERIOD = "google-places/month", "2026-12"


def log() -> BudgetLog:
    """Returns a log that is given records in place of a topic."""
    made = BudgetLog.__new__(BudgetLog)
    made.accounts, made._newest = {}, {}
    return made


def entry(take: int = 0, back: int = 0, made: int = 0, limit: int = 30) -> dict:
    used = {"search/pro": made} if made else {}
    return {"account": NAME, "period": PERIOD, "limit": limit, "take": take, "giveBack": back, "made": used}


def record(sender: str, number: int, **members) -> dict:
    entries = [entry(**members)] if members else []
    return {"fleet": "f", "budget": {"sender": sender, "number": number, "entries": entries}}


def account(of: BudgetLog) -> Account:
    return of.accounts[NAME, PERIOD]


def test_a_grant_is_what_is_left():
    of = log()
    of.apply(record("a-0", 1, take=20))
    of.apply(record("b-0", 1, take=20))
    assert account(of).reserved == {"a-0": 20, "b-0": 10} and account(of).taken == 30


def test_used_and_returned_calls_are_no_longer_reserved():
    of = log()
    of.apply(record("a-0", 1, take=20))
    of.apply(record("a-0", 2, made=12, back=5, take=1))
    assert account(of).made == 12 and account(of).reserved["a-0"] == 4


def test_a_record_counts_once():
    of = log()
    for number in (2, 2, 1):
        of.apply(record("a-0", number, take=5))
    assert account(of).taken == 5


def test_an_order_raises_the_budget():
    of = log()
    raised = record("c", 1)
    raised["budget"]["order"] = {"account": NAME, "period": PERIOD, "limit": 40}
    of.apply(raised)
    of.apply(record("a-0", 1, take=50))
    assert account(of).taken == 40


def test_a_moved_clock_shows_the_time_and_measures_the_usual_one(tmp_path):
    clock = WallClock(datetime.now(UTC) + timedelta(days=40), tmp_path)
    program = (
        "import queue, time\n"
        "began = time.monotonic()\n"
        "try: queue.Queue().get(timeout=0.2)\n"
        "except queue.Empty: print(time.time(), time.monotonic() - began)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=clock.environment, capture_output=True, text=True, timeout=20
    )
    shown, waited = map(float, done.stdout.split())
    assert abs(shown - time.time() - 40 * 86_400) < 10 and 0.1 < waited < 10


def test_the_end_of_the_next_month_is_a_midnight_in_its_zone():
    end = end_of_next_month("America/Los_Angeles")
    assert (end.day, end.hour, end.minute) == (1, 0, 0)
    assert timedelta(days=27) < end - datetime.now(UTC) < timedelta(days=63)
