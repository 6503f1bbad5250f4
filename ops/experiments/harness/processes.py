"""Real processes, each ended by its own pid whatever happens to the experiment."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# The child dies with the harness even if that is killed. Processes must be started on the main thread, because the
# kernel takes the end of the thread that started them for the end of their parent.
WITH_US = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Processes:
    """All processes that one experiment started."""

    def __init__(self, logs: Path):
        self.logs = logs
        self.all: list[subprocess.Popen] = []

    def start(self, name: str, command: list[str], env: dict[str, str] | None = None, **options) -> subprocess.Popen:
        """Starts a process. Its standard error goes to NAME.log, and its standard output too unless `stdout` says
        otherwise.

        It has a session of its own, so that Ctrl-C reaches only the harness, which ends its children in its own order.
        """
        log = open(self.logs / f"{name}.log", "ab")
        options = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL, **options}
        process = subprocess.Popen(
            WITH_US + command, env={**os.environ, **(env or {})}, start_new_session=True, **options
        )
        log.close()
        self.all.append(process)
        return process

    def end_all(self) -> None:
        """Ends all processes, the newest first, so that workers end before the broker that they leave."""
        for process in reversed(self.all):
            resume(process)
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + 5
        for process in reversed(self.all):
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def resume(process: subprocess.Popen) -> None:
    """Undoes a SIGSTOP; without it the process would not see any other signal."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)


def resident_bytes(pid: int) -> int:
    """Returns the bytes of memory that a process has, 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def thread_count(pid: int) -> int:
    """Returns the number of threads of a process, 0 when it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return 0.0


def free_port() -> int:
    """Returns a free port below the ephemeral range, of which a connection could take one before the server does."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as s:
            s.bind(("127.0.0.1", random.SystemRandom().randrange(20_000, 32_000)))
            return s.getsockname()[1]


def wait_until(condition, within: float, what: str, every: float = 0.05):
    """Returns the first true value of `condition`, and raises TimeoutError when none came."""
    end = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {within:.0f} s for {what}")
        time.sleep(every)
    return value


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.5).close()
        return True
    except OSError:
        return False


def first_line(process: subprocess.Popen, within: float = 15) -> str:
    """Returns the line with which one of our servers prints its address."""
    import select

    assert process.stdout, "its output is a pipe"
    if not select.select([process.stdout], [], [], within)[0]:
        raise TimeoutError(f"{process.args!r} printed nothing in {within:.0f} s")
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with {process.wait(5)} before it said its address")
    return line
