"""Starts, kills, stops, freezes and watches `locsearch worker` processes."""

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .brokers import Broker
from .calls import LastMetrics, parsed
from .processes import Processes, cpu_seconds, free_port, resident_bytes, resume, wait_until
from .recorder import Recorder
from .traffic import Topics

_variables: dict[str, str] = {}


@cache
def learn_variables(program: str) -> None:
    """Asks a program which environment variable belongs to each of its settings. Call it before `environment()`."""
    done = subprocess.run([program, "config", "--json"], capture_output=True, text=True, timeout=30, env=quiet())
    if done.returncode:
        raise RuntimeError(f"`{program} config --json` says: {done.stderr.strip()[:200]}")
    _variables.clear()
    _variables.update({setting["name"]: setting["environment"] for setting in json.loads(done.stdout)})


def quiet() -> dict[str, str]:
    """Returns an environment without settings."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}


def variable(setting: str) -> str:
    """Returns a setting's environment variable: `googlePlaces.baseURL` is GOOGLE_PLACES_BASE_URL in the environment."""
    if not _variables:
        raise RuntimeError("learn_variables() was not called")
    if setting not in _variables:
        raise KeyError(f"locsearch has no setting {setting}")
    return _variables[setting]


def environment(settings: dict) -> dict[str, str]:
    return {
        variable(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in settings.items()
        if value is not None
    }


def base_settings(broker: Broker, topics: Topics, provider: str, cooperative: bool) -> dict:
    """Returns the settings that every worker of an experiment starts with. Experiments put their own over them."""
    client: dict[str, object] = {
        "session.timeout.ms": broker.session_ms,
        "heartbeat.interval.ms": 500,
        "fetch.wait.max.ms": broker.fetch_wait_ms,
    }
    if cooperative:
        client["partition.assignment.strategy"] = "cooperative-sticky"
    return {
        "kafka.bootstrapServers": broker.bootstrap,
        "kafka.groupId": topics.group,
        "kafka.properties": properties(client),
        "topics.requests": topics.requests,
        "topics.results": topics.results,
        "topics.errors": topics.errors,
        "topics.deadLetters": topics.dead,
        "topics.fleet": topics.fleet,
        "hotpepper.baseURL": provider,
        "hotpepper.apiKey": "experiment",
        "googlePlaces.baseURL": provider,
        "googlePlaces.apiKey": "experiment",
        "googlePlacesLegacy.baseURL": provider,
        "worker.concurrency": 64,
        "admin.host": "127.0.0.1",
        "log.level": "info",
        "log.format": "json",
    }


def properties(of: dict) -> str:
    return ",".join(f"{k}={v}" for k, v in of.items())


@dataclass
class Worker:
    index: int
    process: subprocess.Popen
    admin_port: int
    began: float = field(default_factory=time.monotonic)
    at_kill: dict[str, float] = field(default_factory=dict)  # The metrics before SIGKILL.
    leaving: LastMetrics | None = None  # What it reports after SIGTERM.

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def get(self, path: str, within: float = 2) -> tuple[int, str]:
        """Returns status and body, or (0, "") when nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}{path}", timeout=within) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            try:
                return e.code, e.read().decode(errors="replace")
            except OSError:  # The worker was frozen between the head of its answer and the body.
                return e.code, ""
        except (OSError, ValueError):
            return 0, ""

    def ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def status(self) -> dict:
        code, body = self.get("/status")
        return json.loads(body) if code == 200 else {}

    def partitions(self) -> int:
        """Returns how many partitions the worker has, according to itself."""
        return len(self.status().get("assignment") or [])

    def metrics(self) -> dict[str, float]:
        """Returns the metrics, each value by its `name{labels}`."""
        return parsed(self.get("/metrics")[1])

    def metric(self, name: str) -> float:
        """Returns a metric's value, summed over its labels."""
        return sum(v for k, v in self.metrics().items() if k.partition("{")[0] == name)


class Fleet:
    """The workers of one experiment by number. A replacement has the number of the worker that it replaces."""

    def __init__(
        self,
        command: str,
        processes: Processes,
        recorder: Recorder,
        settings: dict,
        library: Path | None,
        clock: dict[str, str] | None = None,
    ):
        self.clock = clock or {}
        self.command, self.processes, self.recorder, self.settings, self.library = (
            command,
            processes,
            recorder,
            settings,
            library,
        )
        self.workers: dict[int, Worker] = {}
        self.gone: list[Worker] = []  # These were ended on purpose, and how they ended is checked.
        self.all: list[Worker] = []  # Those that have ended, too.
        self.started = 0
        recorder.add(
            "params",
            inFlight=int(settings["worker.concurrency"]),
            commitInterval=seconds(settings.get("worker.commitInterval", "1s")),
            ordering=settings.get("worker.ordering", "unordered"),
        )

    def start(self, index: int, **more) -> Worker:
        """Starts a worker. `more` are settings of this one alone, with their dots written as `__`."""
        port = free_port()
        own = {name.replace("__", "."): value for name, value in more.items()}
        env = environment({**self.settings, **own, "admin.port": port}) | self.clock
        if self.library:
            env["LD_LIBRARY_PATH"] = str(self.library)
        self.started += 1
        worker = Worker(
            index, self.processes.start(f"worker-{index}.{self.started}", [self.command, "worker"], env), port
        )
        self.workers[index] = worker
        self.all.append(worker)
        self._say_how_many()
        return worker

    def start_all(self, count: int, within: float = 40) -> None:
        for i in range(count):
            self.start(i)
        self.wait_ready(within)

    def shares(self) -> dict[int, int]:
        """Returns the number of partitions by worker, 0 for one that is not ready. Raises RuntimeError if one ended by
        itself.
        """
        if dead := [w for w in self.workers.values() if not w.alive]:
            raise RuntimeError(
                f"worker {dead[0].index} ended by itself with {dead[0].process.returncode}: {self.last_words(dead[0])}"
            )
        return {w.index: w.partitions() if w.ready() else 0 for w in self.workers.values()}

    def wait_ready(self, within: float = 40) -> None:
        """Waits until every worker has joined the group and has partitions."""
        wait_until(lambda: all(self.shares().values()), within, "the workers to share the partitions", 0.1)

    @property
    def alive(self) -> list[Worker]:
        return [w for w in self.workers.values() if w.alive]

    def kill(self, index: int, ask: bool = False) -> None:
        """Kills a worker with SIGKILL. With `ask` it says before how many requests it has open, and those count."""
        worker = self.workers.pop(index)
        worker.at_kill = worker.metrics()
        asked = {"open": round(worker.at_kill.get("locsearch_requests_open", 0))} if ask else {}
        worker.process.kill()
        worker.process.wait()
        self.recorder.add("kill", worker=index, **asked)
        self._say_how_many()

    def terminate(self, index: int) -> Worker:
        """Sends SIGTERM to a worker and does not wait."""
        worker = self.workers.pop(index)
        self.recorder.add("stop", worker=index)
        worker.process.send_signal(signal.SIGTERM)
        worker.leaving = LastMetrics(worker)
        worker.leaving.start()
        self.gone.append(worker)
        return worker

    def stop(self, index: int, within: float = 40) -> int:
        """Sends SIGTERM to a worker and returns its exit status once it has drained."""
        worker = self.terminate(index)
        try:
            worker.process.wait(within)
        except subprocess.TimeoutExpired:
            self.recorder.add("note", text=f"worker {index} did not end within {within} s of SIGTERM")
            worker.process.kill()
            worker.process.wait()
        self._say_how_many()
        return worker.process.returncode

    def stop_all(self, within: float = 40) -> list[int]:
        """Sends SIGTERM to all workers at once and returns their exit statuses."""
        going = [self.terminate(i) for i in list(self.workers)]
        end = time.monotonic() + within
        for w in going:
            try:
                w.process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                w.process.kill()
                w.process.wait()
        return [w.process.returncode for w in going]

    def freeze(self, index: int) -> None:
        self.workers[index].process.send_signal(signal.SIGSTOP)

    def thaw(self, index: int) -> None:
        resume(self.workers[index].process)

    def _say_how_many(self) -> None:
        self.recorder.add("live", workers=len(self.alive))

    def last_words(self, worker: Worker) -> str:
        logs = sorted(self.processes.logs.glob(f"worker-{worker.index}.*.log"), key=lambda f: f.stat().st_mtime)
        lines = logs[-1].read_text(errors="replace").strip().splitlines() if logs else []
        return lines[-1][:400] if lines else "it said nothing"


class Watch(threading.Thread):
    """Records memory and CPU of the workers over time."""

    def __init__(self, fleet: Fleet, every: float = 0.25):
        super().__init__(daemon=True)
        self.fleet, self.every = fleet, every
        self.rows: list[tuple[float, int, int, float]] = []  # Rows of (seconds, worker, resident bytes, CPU seconds).
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.wait(self.every):
            for w in list(self.fleet.workers.values()):
                if size := resident_bytes(w.process.pid):
                    self.rows.append((self.fleet.recorder.now, w.index, size, cpu_seconds(w.process.pid)))

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(5)

    def megabytes(self, index: int = 0, since: float = 0) -> list[float]:
        return [size / 1e6 for t, i, size, _ in list(self.rows) if i == index and t >= since]


def seconds(duration: str) -> float:
    """Returns the seconds of a setting's duration, such as `250ms`, `5s` or `2m`."""
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|m|h)", str(duration)).groups()
    return float(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]
