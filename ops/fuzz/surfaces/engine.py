"""Feeds a surface batch by batch, watches its processes, and narrows a failure down to the input that makes it."""

import base64
import contextlib
import itertools
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments"))
from harness.processes import Processes, resident_bytes

HANG_S = 2.0
"""The longest time without an answer, or without an outcome while some are due."""
LONG_HANG_S = 12.0
"""A process that has not answered after this time hangs for good."""


class Failure(Exception):
    """What a surface's process did that it must not do. `suspects` are inputs that probably made it."""

    kind = "failed"

    def __init__(self, text: str, suspects: list[dict] | None = None):
        super().__init__(text)
        self.suspects = suspects or []


class Ended(Failure):
    kind = "ended"


class Hung(Failure):
    """`for_good` is false when the answer came after all, only late."""

    kind = "hung"
    for_good = True


class Grown(Failure):
    kind = "grown"


class Wrong(Failure):
    """An outcome that blames us for what came from outside."""

    kind = "wrong"


class Patience:
    """Measures how long processes have let us wait, without the time in which they, or we, got no core."""

    def __init__(self, processes: list[subprocess.Popen], limit: float = HANG_S):
        self.processes, self.limit = processes, limit
        self.renew()

    def renew(self) -> None:
        """Begins to measure anew: something has come."""
        self._began = time.monotonic()
        self._starved = self._starvation()

    @property
    def waited(self) -> float:
        starved = {
            name: max(0.0, seconds - self._starved.get(name, 0.0)) for name, seconds in self._starvation().items()
        }
        by_process: dict[str, float] = {}
        for (pid, _), seconds in starved.items():
            by_process[pid] = max(by_process.get(pid, 0.0), seconds)
        return time.monotonic() - self._began - sum(by_process.values())

    @property
    def is_over(self) -> bool:
        return time.monotonic() - self._began > self.limit and self.waited > self.limit

    def _starvation(self) -> dict[tuple[str, str], float]:
        """Returns by thread the seconds in which it could have run and got no core."""
        found = {}
        for pid in [str(p.pid) for p in self.processes] + ["self"]:
            for task in Path(f"/proc/{pid}/task").glob("*"):
                try:
                    found[pid, task.name] = int((task / "schedstat").read_text().split()[1]) / 1e9
                except (OSError, IndexError, ValueError):
                    pass
        return found


class Surface:
    """One way into our processes. A subclass makes inputs, feeds them, and asks whether all still works."""

    name = ""
    batch = 500
    megabytes = 400  # More memory than this, in any of the watched processes, is a failure.
    restarts = 30  # The most times that narrowing starts the processes anew.
    about = ""

    def __init__(self, locsearch: str, folder: Path):
        self.locsearch, self.folder = locsearch, folder
        self.processes = Processes(folder)
        self.watched: dict[str, subprocess.Popen] = {}
        self.most_bytes = 0

    def make(self, chance: random.Random, number: int) -> dict:
        """Returns an input. It follows from `chance` alone, so that it can be made again."""
        raise NotImplementedError

    def start(self) -> None:
        """Starts the processes and returns when they work."""

    def feed(self, inputs: list[dict]) -> None:
        """Hands inputs over and returns when they are done with."""
        raise NotImplementedError

    def probe(self) -> None:
        """Asks for something well-formed and checks that it is answered."""

    def stop(self) -> None:
        for process in reversed(self.processes.all):
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    # What was written and not read breaks the pipe of a process that has ended, which is why we stop
                    # it.
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()
        self.processes.all.clear()
        self.watched.clear()

    # Watching

    def check(self) -> None:
        for name, process in self.watched.items():
            if process.poll() is not None:
                raise Ended(f"{name} ended with {ending(process.returncode)}: {self.last_words(name)}")
            size = resident_bytes(process.pid)
            self.most_bytes = max(self.most_bytes, size)
            if size > self.megabytes * 1_000_000:
                raise Grown(f"{name} has {size // 1_000_000} MB of memory, more than {self.megabytes}")

    def watch(self, name: str, command: list[str], env: dict | None = None, **options) -> subprocess.Popen:
        """Starts a process that must not end."""
        self.watched[name] = self.processes.start(name, [self.locsearch, *command], env, **options)
        return self.watched[name]

    def wait(self, condition, what: str, suspects=None, limit: float = HANG_S):
        """Returns the first true value of `condition`. Raises Hung when the processes leave us without it for too
        long.
        """
        patience = Patience(list(self.watched.values()), limit)
        late = False
        while not (value := condition()):
            self.check()
            if patience.is_over:
                if late:
                    raise Hung(f"no {what} in {patience.waited:.1f} s", suspects() if suspects else None)
                late, patience.limit = True, limit + LONG_HANG_S
            time.sleep(0.002)
        if late:
            failure = Hung(f"{what} took {patience.waited:.1f} s", suspects() if suspects else None)
            failure.for_good = False
            raise failure
        return value

    def last_words(self, name: str) -> str:
        try:
            lines = (self.folder / f"{name}.log").read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        telling = [
            line
            for line in lines[-60:]
            if "atal error" in line or "Illegal" in line or "Crash" in line or "crash" in line
        ]
        return (telling or lines or ["it said nothing"])[-1 if not telling else 0][:600]


def ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


@dataclass
class Finding:
    surface: str
    seed: str
    failure: str
    kind: str
    tried: int  # The number of inputs that had been fed when it failed.
    inputs: list[dict] = field(default_factory=list)  # The fewest that make it fail.
    numbers: list[int] = field(default_factory=list)
    reproduced: bool = True
    began: int = 0  # The number of the first input that the processes got which failed.
    file: str = ""


def numbered(surface: Surface, seed: str, count: int, first: int = 0) -> Iterator[tuple[int, dict]]:
    for number in range(first, first + count):
        yield number, surface.make(random.Random(f"{seed}:{surface.name}:{number}"), number)


def attempt(surface: Surface, inputs: list[dict]) -> Failure | None:
    """Feeds inputs to running processes. Returns what went wrong."""
    try:
        surface.feed(inputs)
        surface.probe()
        surface.check()
    except Failure as failure:
        try:  # A process that has ended is also what another one, which waits for it, fails by.
            time.sleep(0.05)
            surface.check()
        except Failure as own:
            own.suspects = own.suspects or failure.suspects
            return own
        return failure
    return None


def run(
    surface: Surface, seed: str, count: int, first: int = 0, findings: int = 3, say=lambda text: None
) -> tuple[list[Finding], list[str]]:
    """Feeds `count` inputs. Returns what was found, and what was only slow and did not come again."""
    found: list[Finding] = []
    slow: list[str] = []
    fed, began = 0, first
    surface.start()
    try:
        source = numbered(surface, seed, count, first)
        while batch := list(itertools.islice(source, surface.batch)):
            failure = attempt(surface, [made for _, made in batch])
            fed += len(batch)
            if not failure:
                continue
            say(f"{surface.name}: {failure.kind} among inputs {batch[0][0]} to {batch[-1][0]}: {failure}")
            finding = narrowed(surface, seed, batch, failure, fed)
            finding.began, began = began, batch[-1][0] + 1
            if isinstance(failure, Hung) and not failure.for_good and not finding.reproduced:
                slow.append(str(failure))
            else:
                found.append(finding)
            if len(found) >= findings:
                break
            again(surface)
    finally:
        surface.stop()
    return found, slow


def again(surface: Surface) -> None:
    surface.stop()
    surface.start()


def narrowed(surface: Surface, seed: str, batch: list[tuple[int, dict]], failure: Failure, fed: int) -> Finding:
    """Returns the fewest of a batch's inputs that make fresh processes fail in the same way."""
    numbers = {id(made): number for number, made in batch}
    left = surface.restarts
    last = failure

    def fails(inputs: list[dict]) -> bool:
        nonlocal left, last
        if left <= 0:
            return False
        left -= 1
        again(surface)
        met = attempt(surface, inputs)
        if met and met.kind == failure.kind:
            last = met
            return True
        return False

    inputs = [made for _, made in batch]
    suspects = [s for s in failure.suspects if id(s) in numbers]
    if suspects and len(suspects) < len(inputs) and fails(suspects):
        inputs, reproduced = suspects, True
    else:
        reproduced = fails(inputs)
    parts = 2
    while reproduced and len(inputs) > 1 and left > 0:
        size = -(-len(inputs) // parts)
        pieces = [inputs[i : i + size] for i in range(0, len(inputs), size)]
        for piece in pieces:
            if fails(piece):
                inputs, parts = piece, 2
                break
        else:
            rests = [[m for m in inputs if all(m is not p for p in piece)] for piece in pieces] if parts > 2 else []
            for rest in rests:
                if rest and fails(rest):
                    inputs, parts = rest, max(parts - 1, 2)
                    break
            else:
                if parts >= len(inputs):
                    break
                parts = min(len(inputs), parts * 2)
    return Finding(
        surface.name, seed, str(last), failure.kind, fed, inputs, [numbers[id(i)] for i in inputs], reproduced
    )


# Saving


def packed(value):
    """Returns a value as JSON has it; bytes become an object with one member."""
    if isinstance(value, bytes):
        try:
            return {"utf8": value.decode()}
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return [packed(inner) for inner in value]
    if isinstance(value, dict):
        return {name: packed(inner) for name, inner in value.items()}
    return value


def unpacked(value):
    if isinstance(value, list):
        return [unpacked(inner) for inner in value]
    if isinstance(value, dict):
        if set(value) == {"utf8"}:
            return value["utf8"].encode()
        if set(value) == {"base64"}:
            return base64.b64decode(value["base64"])
        return {name: unpacked(inner) for name, inner in value.items()}
    return value


def save(finding: Finding, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    count = f"-{len(finding.numbers)}" if len(finding.numbers) > 1 else ""
    file = folder / f"{finding.surface}-{finding.seed}-{finding.numbers[0]}{count}.json"
    record = {
        "surface": finding.surface,
        "seed": finding.seed,
        "numbers": finding.numbers,
        "kind": finding.kind,
        "failure": finding.failure,
        "reproduced": finding.reproduced,
        "began": finding.began,
        "inputs": packed(finding.inputs),
    }
    file.write_text(json.dumps(record, indent=1, ensure_ascii=True) + "\n")
    return file


def load(file: Path) -> tuple[str, list[dict]]:
    record = json.loads(file.read_text())
    return record["surface"], unpacked(record["inputs"])


def unused_port() -> int:
    """Returns a port below those that the system hands out to whoever connects, so that nobody takes it before it is
    used.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class LineReader(threading.Thread):
    """Reads a process's output, so that it never waits for us, and remembers whether a text was in it."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.lines, self._awaited, self._seen = pipe, 0, "", threading.Event()
        self.start()

    def run(self) -> None:
        try:
            for line in self.pipe:
                self.lines += 1
                if self._awaited and self._awaited in line:
                    self._seen.set()
        except ValueError:  # The pipe was closed.
            pass

    def expect(self, text) -> None:
        self._seen.clear()
        self._awaited = text

    @property
    def has_come(self) -> bool:
        return self._seen.is_set()
