"""Each rule of .github/ sees the mistake that it is for, and finds nothing in the files as they are."""

import copy
from collections.abc import Callable

import hosting
import pytest
from hosting import Hosting
from operator_files import ROOT

CI = ".github/workflows/ci.yaml"


@pytest.fixture(scope="module")
def files() -> Hosting:
    return hosting.load(ROOT)


def job(files: Hosting, name: str = "checks") -> dict:
    return files.workflows[CI]["jobs"][name]


def with_step(files: Hosting, **step: str) -> None:
    job(files)["steps"].append(step)


MISTAKES: list[tuple[str, Callable[[Hosting], object], str]] = [
    ("a tag", lambda f: with_step(f, uses="actions/cache@v4"), "actions/cache@v4 is not pinned"),
    ("all rights", lambda f: f.workflows[CI].pop("permissions"), "permissions are not"),
    (
        "a stranger's change",
        lambda f: f.workflows[CI][True].update(pull_request_target=None),
        "pull_request_target runs a stranger's",
    ),
    ("no bound", lambda f: job(f).pop("timeout-minutes"), "without timeout-minutes"),
    (
        "a title as command",
        lambda f: with_step(f, run="echo ${{ github.event.pull_request.title }}"),
        "an expression in a script",
    ),
    ("half a script", lambda f: with_step(f, run="if true; then"), "syntax error"),
    ("a program that moved", lambda f: with_step(f, run=".ci/runs --all"), ".ci/runs is no program"),
    ("a file that is no program", lambda f: with_step(f, run="ops/worker.yaml"), "ops/worker.yaml is no program"),
    ("a target that is gone", lambda f: with_step(f, run="make tests"), "`make tests` is no target"),
    ("packages forgotten", lambda f: f.files.add("ops/new/requirements.txt"), "/ops/new has packages that nothing"),
    ("packages gone", lambda f: f.files.remove("schemas/requirements.txt"), "/schemas has no requirements.txt"),
    ("image moved", lambda f: f.files.remove("ops/image/Dockerfile"), "/ops/image has no Dockerfile"),
    (
        "folder renamed",
        lambda f: setattr(f, "owners", f.owners + "/Sources/Providers/ @a/b\n"),
        "/Sources/Providers/ does not exist",
    ),
    ("a person", lambda f: setattr(f, "owners", f.owners + "/docs/ @somebody\n"), "/docs/ is owned by no role"),
    ("nobody", lambda f: setattr(f, "owners", "# empty\n"), "does not name who owns everything else"),
]


@pytest.mark.parametrize(("mistake", "message"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_rule_sees_its_mistake(files: Hosting, mistake: Callable[[Hosting], object], message: str):
    changed = copy.deepcopy(files)
    mistake(changed)
    found = hosting.problems(changed)
    assert [problem for problem in found if message in problem], f"expected {message!r} in {found}"


def test_files_as_they_are_have_no_mistakes(files: Hosting):
    assert hosting.problems(files) == []
