"""The surroundings of one experiment: what it started, what it saw, and what came of it."""

import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from . import brokers, calls
from .brokers import Broker
from .conformance import Cluster
from .processes import Processes, wait_until
from .provider import Provider
from .recorder import Recorder
from .traffic import OffsetSampler, Reader, Sender, Topics, audit
from .wall_clock import WallClock
from .workers import Fleet, Watch, base_settings, environment, learn_variables, properties

HERE = Path(__file__).parent.parent


class Skipped(Exception):
    """The experiment cannot be done with this worker, broker or library. The text says what is missing."""


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    long: bool = False
    broker: str | None = None  # None means what the experiment prefers.
    library: str | None = None  # This is system or new; None means what the experiment prefers.
    locsearch: str = ""
    provider: str | None = None
    keep: bool = False
    verbose: bool = False
    older: str | None = None  # The program of an earlier version.


@dataclass(frozen=True)
class Experiment:
    name: str
    shows: str
    run: Callable[["Lab"], None]
    needs: dict = field(
        default_factory=dict
    )  # Settings that the worker must have, each with a value that it must accept.
    broker: str = "embedded"
    library: str = "system"
    seconds: tuple[int, int] = (60, 900)  # The most seconds that it may take, in the short and in the long form.
    alone: bool = False  # Whether its figures need a quiet machine.


class Lab:
    """A context manager that ends all that it has started."""

    # These are there once begin() has started them.
    broker: Broker
    provider: Provider
    sender: Sender
    reader: Reader
    sampler: OffsetSampler
    # This is there once move_clock() was called.
    clock: WallClock
    clock_environment: dict[str, str]

    def __init__(self, experiment: Experiment, options: Options, folder: Path):
        self.experiment, self.options, self.long = experiment, options, options.long
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.run_name = f"{experiment.name}-{time.time_ns() // 1_000_000}"
        self.processes = Processes(folder)
        learn_variables(options.locsearch)
        self.recorder = Recorder(folder / "history.jsonl")
        self.topics = Topics.named(self.run_name)
        self.violations: list[str] = []
        self.figures: dict[str, Any] = {}
        self.fleet: Fleet | None = None
        self.fleets: list[Fleet] = []
        self.providers: list[Provider] = []  # Those that nobody else calls.
        self.compares_calls = True  # Not where workers run beside the fleets.
        self.clock_environment = {}
        self._threads: list = []

    def __enter__(self) -> "Lab":
        signal.signal(signal.SIGALRM, self._too_long)
        signal.alarm(self.experiment.seconds[self.long])
        return self

    def __exit__(self, *_) -> None:
        signal.alarm(0)
        self.processes.end_all()
        for thread in self._threads:
            thread.stop()
        self.recorder.close()

    def _too_long(self, *_) -> None:
        raise TimeoutError(f"the experiment took longer than {self.experiment.seconds[self.long]} s")

    # Setting up

    def size(self, short, long):
        return long if self.long else short

    @property
    def new_library(self) -> bool:
        return (self.options.library or self.experiment.library) == "new"

    def move_clock(self, shown: datetime) -> None:
        """Moves the wall clock of workers, providers, commands and the requests' timestamps. Call it before begin()."""
        self.clock = WallClock(shown, self.folder)
        self.clock_environment = self.clock.environment

    def begin(
        self,
        partitions: int = 8,
        results: int = 8,
        errors: int = 4,
        dead: int = 1,
        kind: str | None = None,
        broker_count: int = 1,
        isolation: str = "read_uncommitted",
        broker: Broker | None = None,
        observe: bool = True,
    ) -> None:
        """Starts a broker (unless one is given), topics, provider and the two observers. What those see goes into the
        history unless `observe` is false. No request is sent yet."""
        kind = kind or self.options.broker or self.experiment.broker
        self.require_settings(self.experiment.needs)
        if kind == "tansu" and not self.new_library:
            raise Skipped("Tansu needs librdkafka 2.2 or newer: give --librdkafka new")
        self.broker = broker or brokers.start(kind, self.processes, self.options.locsearch, broker_count)
        if self.broker.can_fail:
            self.broker.ask(groupDelay=500)
        self.partitions = partitions
        self.outcome_topics = {self.topics.results: results, self.topics.errors: errors, self.topics.dead: dead}
        self.broker.create_topics({self.topics.requests: partitions, self.topics.fleet: 1, **self.outcome_topics})
        self.provider = Provider(self.options.provider) if self.options.provider else self.another_provider()
        self.sender = Sender(self.broker, self.topics, partitions, self.recorder)
        self.sender.clock_ahead_ms = self.clock.ahead_s * 1000 if self.clock_environment else 0
        self.reader = self._observe(
            Reader(self.broker, self.topics, self.outcome_topics, self.recorder, isolation, observe)
        )
        self.sampler = self._observe(
            OffsetSampler(self.broker, self.topics, partitions, self.outcome_topics, self.recorder, record=observe)
        )

    @property
    def patience(self) -> dict:
        """Properties that make the session long. A member that gets no CPU for a while has not crashed, and what it
        would repeat then is no fault of a planned change."""
        return {"session.timeout.ms": 2 * self.broker.session_ms}

    def another_provider(self) -> Provider:
        self.providers.append(Provider.start(self.processes, self.options.locsearch, self.clock_environment))
        return self.providers[-1]

    def _observe(self, thread):
        self._threads.append(thread)
        thread.start()
        return thread

    def workers(
        self, count: int, wait: bool = True, client: dict | None = None, if_known: dict | None = None, **settings
    ) -> Fleet:
        """Starts workers. `settings` have their dots written as `__`, `if_known` are settings that older workers may
        lack, and `client` are librdkafka's properties besides our own."""
        chosen = base_settings(self.broker, self.topics, self.provider.base_url, cooperative=self.new_library)
        chosen |= {name.replace("__", "."): value for name, value in settings.items()}
        chosen |= {name: value for name, value in (if_known or {}).items() if name in self.known_settings()}
        if client:
            # Ours come first and the experiment's own replace them: a worker refuses a property that is there twice.
            ours = dict(pair.split("=", 1) for pair in chosen["kafka.properties"].split(","))
            chosen["kafka.properties"] = properties(ours | client)
        self.fleet = Fleet(
            self.options.locsearch,
            self.processes,
            self.recorder,
            chosen,
            brokers.newest_library() if self.new_library else None,
            self.clock_environment,
        )
        self.fleets.append(self.fleet)
        self.watch = self._observe(Watch(self.fleet))
        if wait:
            self.fleet.start_all(count)
        else:
            for i in range(count):
                self.fleet.start(i)
        return self.fleet

    def begin_delivering(self, delivery: str, **options) -> None:
        """Begins a run in one of the delivery modes. With exactly-once, the reader reads committed records, and no
        outcome may be there twice."""
        if delivery == "exactly-once":
            self.require_cluster()
            self.recorder.add("params", allowed=0)
            options |= {"isolation": "read_committed"}
        self.begin(**options)

    def workers_delivering(self, delivery: str, count: int, client: dict | None = None, **settings) -> Fleet:
        """Starts workers in one of the delivery modes."""
        # The partitions of a worker that was killed wait for the end of its transaction.
        short = {"transaction.timeout.ms": 6_000} if delivery == "exactly-once" else {}
        return self.workers(count, client=(client or {}) | short, worker__delivery=delivery, **settings)

    def known_settings(self) -> str:
        """Returns what `locsearch config` prints."""
        return run_command([self.options.locsearch, "config"], {}).stdout

    def require_settings(self, needs: dict) -> None:
        """Skips the experiment when the worker does not know a setting, or refuses its value."""
        if not needs:
            return
        known = self.known_settings()
        for name in needs:
            if not re.search(rf"^{re.escape(name)} ", known, re.MULTILINE):
                raise Skipped(f"worker has no {name}")
        done = run_command([self.options.locsearch, "config"], environment(needs))
        for name, value in needs.items():
            if done.returncode == 78 and name in done.stderr:
                raise Skipped(f"worker has no {name}={value}")
        if done.returncode:
            raise Skipped(f"`locsearch config` says: {done.stderr.strip()[:200]}")

    def require_cluster(self) -> None:
        """Skips what only a real cluster shows: the mock does not apply the offsets of transactions, and Tansu keeps no
        metadata beside an offset.
        """
        if (self.options.broker or self.experiment.broker) in ("embedded", "mock", "tansu"):
            raise Skipped("this needs a real cluster: give --brokers HOST:PORT")

    def require_faults(self) -> None:
        if not self.broker.can_fail:
            raise Skipped(f"the {self.broker.kind} broker takes no faults")

    # Waiting

    def settle(self, within: float, idle: float | None = None) -> bool:
        """Waits until every acknowledged request has its outcome. Returns False when that was not in time (the verdict
        will say lost), or when nothing came for `idle` seconds."""
        end, last, moved = time.monotonic() + within, self.recorder.finished, time.monotonic()
        while time.monotonic() < end:
            left = self.sender.unacknowledged(0.1)
            done = self.recorder.finished
            if not left and self.recorder.sent and done >= self.recorder.sent - self._needless():
                return True
            if self.fleet and any(not w.alive for w in list(self.fleet.workers.values())):
                self.fleet.shares()  # This raises an error that names the worker and its last words.
            if done != last:
                last, moved = done, time.monotonic()
            elif idle and time.monotonic() - moved > idle:
                break
            time.sleep(0.1)
        self.sender.flush(0.1)
        return False

    def _needless(self) -> int:
        return (
            sum(r.found and not r.outcomes for r in list(self.recorder.history.requests.values()))
            if self._audited
            else 0
        )

    _audited = False

    def audit(self) -> None:
        """Counts requests that lie in the topic although no acknowledgement of them came, as happens after faults."""
        self._audited = True
        found = audit(self.broker, self.topics, self.partitions, self.recorder)
        if found:
            self.figure("requests found in the log", found)

    def until(self, condition, within: float, what: str, every: float = 0.05):
        return wait_until(condition, within, what, every)

    def outcomes_reach(self, count: int, within: float) -> None:
        wait_until(
            lambda: self.recorder.finished >= count, within, f"{count} outcomes ({self.recorder.finished} are there)"
        )

    # Judging

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.violations.append(otherwise)

    def counts(self) -> dict[str, int]:
        """Returns the outcomes so far by error code, with `result` for those that succeeded."""
        return dict(
            Counter(r.outcomes[0][1] or "result" for r in list(self.recorder.history.requests.values()) if r.outcomes)
        )

    def figure(self, name: str, value) -> None:
        self.figures[name] = value

    def say(self, text: str) -> None:
        """Tells a person how far the run is."""
        if self.options.verbose or sys.stderr.isatty():
            print(f"  {self.recorder.now:6.1f} s  {text}", file=sys.stderr, flush=True)

    def end(self, settle: float = 60) -> None:
        """Waits for the outcomes and then for the offsets, stops the workers, and checks how they left.

        The offsets are waited for before anyone leaves, because a mock broker refuses commits while a group shrinks.
        """
        self.settle(settle)
        self.check(self.commits_catch_up(20), "finished requests were left uncommitted")
        statuses = self.fleet.stop_all()
        self.check(not any(statuses), f"workers ended with {statuses} after SIGTERM, not with 0")
        time.sleep(0.5)  # Late duplicates may still come.
        self.until(lambda: self._reader_is_idle(), 20, "the reader to come to the end")

    def judge_calls(self) -> None:
        """Checks that crashes repeated no more calls than were open at them, and one commit interval each."""
        history = self.recorder.history
        bound, again = history.loss_bound(), self.provider.calls() - self.recorder.sent
        self.figure("open at the kills", sum(history.open_at_kills))
        self.figure("calls made again", f"{again} of at most {bound}")
        self.check(again <= bound, f"{again} calls were made again, and at most {bound} may be")

    def compare_calls(self) -> None:
        """Checks that no provider received more calls than the workers know of: see calls.py."""
        if not (self.fleets and self.compares_calls) or self.options.provider:
            return
        attempts = sum(r.outcomes[0][7] for r in list(self.recorder.history.requests.values()) if r.outcomes)
        counts = calls.count(self.providers, self.fleets, attempts)
        received, counted = sum(counts.received.values()), sum(counts.counted.values())
        self.figure(
            "calls",
            f"{received} received, {counted} counted, {counts.unreported} may be unreported, "
            f"{counts.attempts} attempts in outcomes",
        )
        self.violations += calls.faults(counts)

    def give_up(self) -> None:
        """Lets what was sent finish although the experiment could not go on, so that the history is judged fairly."""
        signal.alarm(0)
        if self.fleet and self.fleet.alive:
            self.sender.ended = True
            time.sleep(0.2)
            self.settle(20)

    def commits_catch_up(self, within: float) -> bool:
        try:
            return self.until(lambda: self.sampler.lag() == 0, within, "all offsets to be committed")
        except TimeoutError:
            self.figure("left uncommitted", self.sampler.lag())
            return False

    def steady(self, within: float = 40, calm: float = 1.0, past_offsets: bool = False) -> None:
        """Waits until the group has settled: the workers have shared all partitions evenly for `calm` seconds without a
        change, and commits of every partition go through. Behind a slow request the offset stays where it is, and only
        the metadata beside it changes: `past_offsets` waits for that.
        """
        end = time.monotonic() + within
        before, since = None, 0.0
        while time.monotonic() < end:
            shares = self.fleet.shares()
            if sum(shares.values()) == self.partitions and max(shares.values()) - min(shares.values()) <= 1:
                if shares != before:
                    before, since = shares, time.monotonic()
                elif time.monotonic() - since >= calm:
                    break
            else:
                before = None
            time.sleep(0.1)
        else:
            raise TimeoutError(
                f"the group did not settle within {within:.0f} s: partitions per worker {self.fleet.shares()}"
            )
        before = self._commits(past_offsets)
        try:
            self.until(
                lambda: self._moved(before, past_offsets), within, "offsets of every partition to be committed", 0.2
            )
        except TimeoutError as e:
            still = {p: now for p, now in self._commits(past_offsets).items() if now == before.get(p)}
            raise TimeoutError(f"{e}; still at {still}, {self.sampler.failed} samples failed") from None

    def _moved(self, before: dict, past_offsets: bool) -> bool:
        now = self._commits(past_offsets)
        return all(now.get(p) != before.get(p) for p in range(self.partitions)) or not self._loaded()

    def _commits(self, past_offsets: bool) -> dict:
        if not past_offsets:
            return dict(self.sampler.committed)
        cluster = Cluster(self.broker.bootstrap)
        try:
            return cluster.commits(self.topics.group, self.topics.requests, self.partitions)
        finally:
            cluster.close()

    def _loaded(self) -> bool:
        """Returns True while there is anything left to commit."""
        return self.recorder.finished < self.recorder.sent

    def _reader_is_idle(self) -> bool:
        before = self.reader.read
        time.sleep(0.4)
        return self.reader.read == before


def run_command(command: list[str], env: dict[str, str], within: float = 20):
    import os
    import subprocess

    try:
        return subprocess.run(
            command, env={**os.environ, **env}, capture_output=True, text=True, timeout=within, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise Skipped(f"there is no {command[0]}: build it (swift build -c release) or set LOCSEARCH") from None
