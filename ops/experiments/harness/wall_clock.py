"""Moves the wall clock of the processes of one experiment, so that a month ends while they run.

Only the wall clock moves. Clocks that measure time go on as before, and the broker has the true time.
"""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

SOURCE = Path(__file__).parent / "wall_clock.c"


class WallClock:
    """A clock that shows `shown` when it is made, and runs at the usual speed. `shown` is at least a day ahead."""

    def __init__(self, shown: datetime, folder: Path):
        self.ahead_s = round((shown - datetime.now(UTC)).total_seconds())
        if self.ahead_s < 86_400:
            raise ValueError("the clock can be moved by a day or more, and only forward")
        self._library = folder / "wall_clock.so"
        self._build()

    def _build(self) -> None:
        compiler = next((c for c in ("cc", "clang", "gcc") if shutil.which(c)), None)
        if not compiler:
            raise RuntimeError("no C compiler: run tools/setup, or put the Swift toolchain's clang into PATH")
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(self._library), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{compiler} cannot build {SOURCE.name}: {done.stderr.strip()[:400]}")

    @property
    def environment(self) -> dict[str, str]:
        """The variables that move the clock of a process."""
        return {"LD_PRELOAD": str(self._library), "CLOCK_AHEAD_S": str(self.ahead_s)}

    def now(self) -> float:
        """Returns the shown time in seconds since 1970."""
        return datetime.now(UTC).timestamp() + self.ahead_s


def end_of_next_month(zone: str) -> datetime:
    """Returns the end of the next month in a time zone, which is at least 28 days away."""
    now = datetime.now(ZoneInfo(zone))
    months = now.year * 12 + now.month - 1 + 2
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=ZoneInfo(zone))
