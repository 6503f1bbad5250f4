"""Rules of .github/ that no schema knows. Each yields one line for each problem."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chart import documents

WORKFLOWS = ".github/workflows/"
# What runs with a token of the repository, whatever the change that triggers it holds.
UNSAFE_TRIGGERS = ("pull_request_target", "workflow_run")


@dataclass
class Hosting:
    """What the rules look at. Tests change one part of it and look whether a rule sees that."""

    files: set[str]  # every file of the repository
    executables: set[str]
    targets: set[str]  # of the Makefile
    workflows: dict[str, dict[Any, Any]]  # by path
    dependabot: dict[str, Any]
    owners: str  # the text of CODEOWNERS


def load(root: Path) -> Hosting:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    files = {name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()}
    return Hosting(
        files=files,
        executables={name for name in files if os.access(root / name, os.X_OK)},
        targets=set(re.findall(r"^([a-z][\w-]*):(?!=)", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)),
        workflows={
            name: next(documents((root / name).read_text(encoding="utf-8")))
            for name in sorted(files)
            if name.startswith(WORKFLOWS)
        },
        dependabot=next(documents((root / ".github/dependabot.yml").read_text(encoding="utf-8"))),
        owners=(root / ".github/CODEOWNERS").read_text(encoding="utf-8"),
    )


def steps(hosting: Hosting) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields where a step is, and the step."""
    for path, workflow in hosting.workflows.items():
        for name, job in workflow["jobs"].items():
            yield from ((f"{path}, {name}, step {number}", step) for number, step in enumerate(job["steps"], 1))


def actions_are_pinned_to_a_commit(hosting: Hosting) -> Iterator[str]:
    """A tag can be moved to another commit by whoever takes an action over."""
    for place, step in steps(hosting):
        if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"]):
            yield f"{place}: {step['uses']} is not pinned to a commit"


def jobs_are_bounded_and_may_do_little(hosting: Hosting) -> Iterator[str]:
    for path, workflow in hosting.workflows.items():
        if workflow.get("permissions") != {"contents": "read"}:
            yield f"{path}: its permissions are not `contents: read`; a job that needs more asks for it"
        # YAML 1.1 reads the key `on` as true.
        triggers = workflow.get("on") or workflow[True]
        yield from (
            f"{path}: {trigger} runs a stranger's change with this repository's rights"
            for trigger in UNSAFE_TRIGGERS
            if trigger in triggers
        )
        for name, job in workflow["jobs"].items():
            if "timeout-minutes" not in job:
                yield f"{path}, {name}: a job without timeout-minutes may run for six hours"


def scripts_hold_no_expressions(hosting: Hosting) -> Iterator[str]:
    """An expression is pasted into a script before the shell reads it, so that the title of a pull request could be a
    command.
    """
    for place, step in steps(hosting):
        if "${{" in step.get("run", ""):
            yield f"{place}: an expression in a script; hand it over by `env`"


def scripts_are_bash(hosting: Hosting) -> Iterator[str]:
    for place, step in steps(hosting):
        done = subprocess.run(["bash", "-n"], input=step.get("run", ""), capture_output=True, text=True)
        if done.returncode != 0:
            yield f"{place}: {done.stderr.strip()}"


def scripts_name_what_is_there(hosting: Hosting) -> Iterator[str]:
    for place, step in steps(hosting):
        script = step.get("run", "")
        for before, path in re.findall(
            r"(^ *|[|;&(] *|(?<![\w./-]))((?:\.ci|ops|tools)/[\w./-]+)", script, re.MULTILINE
        ):
            # The first word of a command is a program, another one a file or a folder.
            is_argument = not before and not script.startswith(path)
            known = any(name == path or name.startswith(f"{path}/") for name in hosting.files)
            if path not in hosting.executables and not (is_argument and known):
                yield f"{place}: {path} is no {'file' if is_argument else 'program'} of this repository"
        for target in re.findall(r"\bmake ((?!-)[\w-]+)", script):
            # `apt-get install git make procps` names a package.
            if "apt-get" not in script and target not in hosting.targets:
                yield f"{place}: `make {target}` is no target"


def every_list_of_packages_is_kept_up_to_date(hosting: Hosting) -> Iterator[str]:
    updates = hosting.dependabot["updates"]
    folders = {
        folder for update in updates if update["package-ecosystem"] == "pip" for folder in update.get("directories", [])
    }
    needed = {
        "/" + os.path.dirname(name) for name in hosting.files if re.search(r"(^|/)requirements[\w-]*\.txt$", name)
    }
    yield from (
        f"dependabot.yml: {folder} has packages that nothing keeps up to date" for folder in sorted(needed - folders)
    )
    yield from (f"dependabot.yml: {folder} has no requirements.txt" for folder in sorted(folders - needed))

    for update in updates:
        folder = update.get("directory", "/").strip("/")
        if update["package-ecosystem"] == "docker" and f"{folder}/Dockerfile" not in hosting.files:
            yield f"dependabot.yml: /{folder} has no Dockerfile"


def owned_paths_exist(hosting: Hosting) -> Iterator[str]:
    lines = [line.split() for line in hosting.owners.splitlines() if line.strip() and not line.startswith("#")]
    if not lines or lines[0][0] != "*":
        yield "CODEOWNERS: the first line does not name who owns everything else"
    for pattern, *owners in lines:
        path = pattern.strip("/")
        if (
            pattern != "*"
            and path not in hosting.files
            and not any(name.startswith(path + "/") for name in hosting.files)
        ):
            yield f"CODEOWNERS: {pattern} does not exist"
        if not owners or not all(re.fullmatch(r"@[\w-]+/[\w-]+", owner) for owner in owners):
            yield f"CODEOWNERS: {pattern} is owned by no role, which is a team"


RULES: list[Callable[[Hosting], Iterator[str]]] = [
    actions_are_pinned_to_a_commit,
    jobs_are_bounded_and_may_do_little,
    scripts_hold_no_expressions,
    scripts_are_bash,
    scripts_name_what_is_there,
    every_list_of_packages_is_kept_up_to_date,
    owned_paths_exist,
]


def problems(hosting: Hosting) -> list[str]:
    return [problem for rule in RULES for problem in rule(hosting)]
