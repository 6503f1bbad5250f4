#!/usr/bin/env python3
"""Checks what operators use: compose.yaml, the image, Kubernetes, systemd and Prometheus files, and .github/.

`make check-ops` runs it. Others' programs check what each format allows, rules.py what this program needs. Exit status:
0 all is right, 1 something is not; each problem is named.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import chart
import check_jsonschema
import hosting
import kubernetes_validate
import operator_files
import rules
from operator_files import OVERLAYS, ROOT

PROGRAMS = Path(sys.executable).parent  # of the virtual environment, where the wheels put theirs
SYSTEMD_EXPOSURE = 15  # tenths: what `systemd-analyze security` may find at most, of 100
# The files of .github/ by the schema that GitHub, or the schema store, has of them.
HOSTING_SCHEMAS = {
    "github-workflows": [".github/workflows/*.yaml"],
    "dependabot": [".github/dependabot.yml"],
    "github-issue-forms": [".github/ISSUE_TEMPLATE/defect.yml", ".github/ISSUE_TEMPLATE/proposal.yml"],
    "github-issue-config": [".github/ISSUE_TEMPLATE/config.yml"],
}
# Templates, a link to a file that is looked at, and what ops/helm/generate.py writes.
NO_YAML = [
    "ops/helm/locsearch/templates",
    "ops/helm/locsearch/files",
    "ops/kubernetes/components/prometheus-rule/prometheus-rule.yaml",
]
failures = 0


def run(what: str, *command: str | Path, text: str | None = None) -> None:
    """Runs a program, and shows what it says only when it finds fault."""
    global failures
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
    print(f"{'ok  ' if done.returncode == 0 else 'FAIL'}  {what}")
    if done.returncode != 0:
        failures += 1
        print("\n".join("      " + line for line in (done.stdout + done.stderr).strip().splitlines()))


def report(what: str, found: list[str]) -> None:
    global failures
    print(f"{'FAIL' if found else 'ok  '}  {what}")
    print("".join(f"      {problem}\n" for problem in found), end="")
    failures += bool(found)


def check_schema(schema: str, paths: list[Path]) -> None:
    """Runs check-jsonschema in this process, because it takes 2 s to start."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        arguments = ["--builtin-schema", f"vendor.{schema}", *map(os.fspath, paths)]
        status = check_jsonschema.main(arguments, standalone_mode=False)
    report(f"check-jsonschema, {schema}", said.getvalue().strip().splitlines() if status else [])


def kubernetes_problems(objects: list[dict]) -> Iterator[str]:
    """Yields what Kubernetes' schemas do not allow. They have no kinds of operators, which chart.py checks."""
    for thing in objects:
        try:
            kubernetes_validate.validate(thing, kubernetes_validate.latest_version(), strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            pass
        except kubernetes_validate.ValidationError as error:
            place = ".".join(str(part) for part in error.path)
            yield f"{thing['kind']} {thing['metadata']['name']}: {place}: {error.message}"


def check_unit(folder: Path) -> None:
    """A unit is verified as an instance, with a program that is there in place of ours."""
    unit = folder / "locsearch-worker@8080.service"
    text = (ROOT / "ops/systemd/locsearch-worker@.service").read_text()
    unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={shutil.which('true')}", text, flags=re.MULTILINE))
    run("systemd-analyze verify", "systemd-analyze", "verify", "--man=no", unit)
    run(
        f"systemd-analyze security, at most {SYSTEMD_EXPOSURE / 10}",
        "systemd-analyze",
        "security",
        "--offline=true",
        f"--threshold={SYSTEMD_EXPOSURE}",
        "--no-pager",
        unit,
    )


def main() -> int:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    paths = ["compose.yaml", "ops/*.yaml", ".github", *(f":!{path}" for path in NO_YAML)]
    names = subprocess.run([*listed, *paths], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    names = [name for name in names if name.endswith((".yaml", ".yml"))]
    run("yamllint", PROGRAMS / "yamllint", "--strict", "--config-file", "ops/checks/yamllint.yaml", *names)
    run(
        "docker compose config",
        PROGRAMS / "docker-compose",
        "--profile",
        "*",
        "--file",
        "compose.yaml",
        "config",
        "--quiet",
    )
    run("hadolint", PROGRAMS / "hadolint", "--failure-threshold", "info", "ops/image/Dockerfile")
    run("scripts of the image", "sh", "-n", "ops/image/collect-runtime", "ops/image/sbom")
    for schema, names in HOSTING_SCHEMAS.items():
        found_paths = sorted(path for name in names for path in ROOT.glob(name))
        check_schema(schema, found_paths)

    overlays = {name: operator_files.build_overlay(name, os.fspath(PROGRAMS / "kubectl")) for name in OVERLAYS}
    files = operator_files.load(overlays)
    for name, objects in files.overlays.items():
        report(f"kubernetes-validate, overlay {name}", list(kubernetes_problems(objects)))
    with tempfile.TemporaryDirectory() as folder:
        check_unit(Path(folder))

    run(
        "promtool check config",
        "tools/with-prometheus",
        "promtool",
        "check",
        "config",
        "ops/prometheus/prometheus.yaml",
    )

    run(
        "zizmor",
        PROGRAMS / "zizmor",
        "--offline",
        "--no-progress",
        "--quiet",
        "--strict-collection",
        ".github/workflows",
    )
    run("values, schema and rules of the chart", sys.executable, "ops/helm/generate.py", "--check")
    for name, objects in files.overlays.items():
        report(f"schemas of KEDA and the Prometheus Operator, {name}", list(chart.custom_problems(objects)))
    report(
        "chart against overlay production",
        list(chart.differences(files.overlays["production"], files.overlays["chart"])),
    )

    found = rules.problems(files) + hosting.problems(hosting.load(ROOT))
    report("rules of our own", found)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
