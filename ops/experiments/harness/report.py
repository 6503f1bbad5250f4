"""The report of a run: a table and details for people, a record for machines."""

import json
import os
import platform
import time
from pathlib import Path

from history import Verdict

from .lab import Lab

SPARKS = "▁▂▃▄▅▆▇█"
OK, VIOLATED, SKIPPED, FAILED = 0, 1, 77, 70  # Exit codes. FAILED means that the harness could not do the run.
COLUMNS = ("experiment", "sent", "outcomes", "lost", "duplicates", "superseded", "bound", "verdict", "seconds")


def sparkline(values: list[float], width: int = 40) -> str:
    """Draws the values on a scale from 0 to the highest one, so that flat values look flat."""
    if not values:
        return ""
    step = max(1, len(values) // width)
    means = [sum(values[i : i + step]) / len(values[i : i + step]) for i in range(0, len(values), step)]
    top = max(means) or 1
    return "".join(SPARKS[min(7, int(7.99 * v / top))] for v in means)


def finish(lab: Lab, verdict: Verdict, seconds: float, failure: str | None = None) -> tuple[int, dict]:
    """Returns the exit code and the record that goes into results/."""
    violations = lab.violations + verdict.violations
    problems = lab.recorder.problems + ([failure] if failure else [])
    code = VIOLATED if violations else FAILED if problems else OK
    record = {
        "experiment": lab.experiment.name,
        "form": "long" if lab.long else "short",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "broker": lab.broker.kind if lab.broker else None,
        "librdkafka": "new" if lab.new_library else "system",
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "sent": verdict.sent,
        "outcomes": verdict.outcomes,
        "lost": verdict.lost,
        "duplicates": verdict.duplicates,
        "wrong": verdict.wrong,
        "superseded": verdict.superseded,
        "deadLetters": verdict.dead_letters,
        "kills": verdict.kills,
        "bound": verdict.bound,
        "mostPerWorker": verdict.most_per_worker,
        "codes": verdict.codes,
        "spoiltSamples": lab.sampler.failed if hasattr(lab, "sampler") else 0,
        "figures": lab.figures,
        "violations": violations,
        "problems": problems,
        "verdict": {OK: "ok", VIOLATED: "VIOLATED", FAILED: "failed"}[code],
        "seconds": round(seconds, 1),
    }
    return code, record


def skipped(name: str, why: str) -> dict:
    return {"experiment": name, "verdict": "skipped", "why": why, "seconds": 0.0}


def details(record: dict) -> str:
    """Returns what stands under the table: figures, then everything that went wrong."""
    lines = [f"  {name}: {value}" for name, value in record.get("figures", {}).items()]
    if record.get("codes"):
        lines.append("  outcomes by code: " + ", ".join(f"{code} {n}" for code, n in record["codes"].items()))
    lines += [f"  VIOLATION {v}" for v in record.get("violations", [])]
    lines += [f"  PROBLEM of the run: {p}" for p in record.get("problems", [])]
    if record["verdict"] == "skipped":
        lines.append(f"  skipped: {record['why']}")
    return "\n".join(lines)


def table(records: list[dict]) -> str:
    rows = [COLUMNS] + [tuple(str(r.get(c, "-")) for c in COLUMNS) for r in records]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i in (0, 7) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    )


def write(record: dict, folder: Path) -> None:
    (folder / "record.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
