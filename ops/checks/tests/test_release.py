"""tools/release-notes prints a version's notes only where tag, program and changelog agree; tools/image looks into its
image.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from operator_files import ROOT

CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-24

### Added

- A thing.

## [1.1.0] - 2026-10-01

- An older thing.
"""


def repository(folder: Path, version: str = "1.2.0", changelog: str = CHANGELOG) -> Path:
    source = folder / "Sources/Commands/locsearch/Version.swift"
    source.parent.mkdir(parents=True)
    source.write_text(f'enum Version {{\n    static let current = "{version}"\n}}\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    return folder


def notes(tag: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "tools/release-notes", tag, folder], capture_output=True, text=True)


def test_notes_are_those_of_the_version(tmp_path):
    said = notes("v1.2.0", repository(tmp_path))
    assert (said.returncode, said.stdout) == (0, "### Added\n\n- A thing.\n")


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "message"),
    [
        ("1.2.0", "1.2.0", CHANGELOG, "is no tag of a version"),
        ("v1.2.0", "1.1.0", CHANGELOG, "Version.swift has 1.1.0"),
        ("v1.3.0", "1.3.0", CHANGELOG, "has nothing under '## [1.3.0]"),
        ("v1.2.0", "1.2.0", CHANGELOG.replace("### Added\n\n- A thing.\n", ""), "has nothing under"),
        ("v1.2.0", "1.2.0", CHANGELOG.replace(" - 2026-11-24", ""), "has nothing under"),
    ],
)
def test_release_stops_where_a_name_differs(tmp_path, tag, version, changelog, message):
    said = notes(tag, repository(tmp_path, version, changelog))
    assert said.returncode == 1
    assert message in said.stderr


# Stands in for docker, which is not everywhere: it notes how it was called, and answers as the image would.
DOCKER = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1" in
    run) echo "$SAYS" ;;
    create) echo id ;;
    cp) cp "$SBOM" "$4" ;;
esac
"""


def build(folder: Path, says: str, less: int = 0) -> subprocess.CompletedProcess[str]:
    resolved = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    parts = [{"purl": f"pkg:swift/{pin['location']}@{pin['state']['version']}"} for pin in resolved[less:]]
    (folder / "made.json").write_text(json.dumps({"bomFormat": "CycloneDX", "components": parts}))
    docker = folder / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "CALLS": str(folder / "calls"),
        "SAYS": says,
        "SBOM": str(folder / "made.json"),
    }
    return subprocess.run(
        [ROOT / "tools/image", "--sbom", folder / "sbom.json"], env=environment, capture_output=True, text=True
    )


def test_image_gives_its_bill_of_materials(tmp_path):
    version = (ROOT / "Sources/Commands/locsearch/Version.swift").read_text().split('"')[1]
    built = build(tmp_path, says=version)
    assert built.returncode == 0, built.stderr
    assert "CycloneDX" in (tmp_path / "sbom.json").read_text()
    first, *_ = (tmp_path / "calls").read_text().splitlines()
    assert first.startswith(f"build --file ops/image/Dockerfile --tag location-search-worker:{version} ")


def test_image_whose_program_has_another_version_is_refused(tmp_path):
    built = build(tmp_path, says="9.9.9")
    assert built.returncode == 1
    assert "the program says '9.9.9'" in built.stderr


def test_image_that_lacks_a_package_is_refused(tmp_path):
    version = (ROOT / "Sources/Commands/locsearch/Version.swift").read_text().split('"')[1]
    built = build(tmp_path, says=version, less=1)
    assert built.returncode == 1
    assert "does not name async-http-client" in built.stdout


# Notes the standard input of a login, too.
LOGIN = """#!/bin/sh
echo "$*" >> "$CALLS"
[ "$1" = login ] && cat >> "$CALLS"
exit 0
"""


def push(folder: Path, repository: str, **secrets: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Runs the step that pushes the image, and returns what docker was told."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    [step] = [step for step in workflow["jobs"]["publish"]["steps"] if step.get("name") == "Push the image"]
    (folder / "docker").write_text(LOGIN)
    (folder / "docker").chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    environment = dict.fromkeys(step["env"], "") | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "REPOSITORY": repository,
        "TOKEN": "token-of-the-repository",
        "GITHUB_ACTOR": "mori",
        "GITHUB_REF_NAME": "v1.2.0",
        **secrets,
    }
    # As a runner starts a step.
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, capture_output=True, text=True)
    return done, calls.read_text()


def test_token_of_the_repository_goes_to_its_own_registry(tmp_path):
    done, calls = push(tmp_path, "ghcr.io/owner/location-search-worker")
    assert done.returncode == 0, done.stderr
    assert calls.startswith("login ghcr.io --username mori --password-stdin\ntoken-of-the-repository")
    assert calls.endswith("push ghcr.io/owner/location-search-worker:1.2.0\n")


@pytest.mark.parametrize("registry", ["registry.example", "ghcr.io.evil.example", "ghcr.io:8443", "owner", "x@ghcr.io"])
def test_other_registry_needs_its_own_secret(tmp_path, registry):
    repository = f"{registry}/owner/location-search-worker"
    refused, calls = push(tmp_path, repository)
    assert refused.returncode == 1
    assert "IMAGE_REGISTRY_PASSWORD" in refused.stderr
    assert calls == ""

    done, calls = push(tmp_path, repository, REGISTRY_USER="robot", REGISTRY_PASSWORD="its-own-password")
    assert done.returncode == 0, done.stderr
    assert calls.startswith(f"login {registry} --username robot --password-stdin\nits-own-password")
    assert "token-of-the-repository" not in calls


def test_token_reaches_no_other_step_but_the_release():
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    holders = [step.get("name", step.get("uses")) for step in steps if "GITHUB_TOKEN" in json.dumps(step)]
    assert holders == ["Push the image", "Publish the release"]


# Answers as docker, helm and cosign would.
PUSHED = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$(basename "$0") $1" in
    "docker image") printf 'other.example/x@sha256:0\\n%s@sha256:a1\\n' "$REPOSITORY" ;;
    "helm push") echo "Digest: $CHART" >&2 ;;
esac
"""


def push_chart(folder: Path, chart: str) -> tuple[subprocess.CompletedProcess[str], str, str]:
    """Runs the step that pushes the chart, and returns what programs were told and what later steps read."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    [step] = [step for step in workflow["jobs"]["publish"]["steps"] if step.get("id") == "pushed"]
    for name in ("docker", "helm", "cosign"):
        (folder / name).write_text(PUSHED)
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(folder),
        "CALLS": str(folder / "calls"),
        "CHART": chart,
        "REPOSITORY": "ghcr.io/owner/location-search-worker",
        "GITHUB_REF_NAME": "v1.2.0",
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, capture_output=True, text=True)
    output = folder / "output"
    return done, (folder / "calls").read_text(), output.read_text() if output.exists() else ""


def test_image_and_chart_are_signed_by_digest(tmp_path):
    done, calls, output = push_chart(tmp_path, "sha256:b2")
    assert done.returncode == 0, done.stderr
    assert "helm push dist/locsearch-1.2.0.tgz oci://ghcr.io/owner/charts " in calls
    signed = [line for line in calls.splitlines() if line.startswith("cosign")]
    assert signed == [
        "cosign sign --yes ghcr.io/owner/location-search-worker@sha256:a1",
        "cosign sign --yes ghcr.io/owner/charts/locsearch@sha256:b2",
    ]
    assert output == "image-digest=sha256:a1\n"


def test_chart_that_was_not_pushed_ends_the_release(tmp_path):
    done, calls, output = push_chart(tmp_path, "")
    assert done.returncode == 1
    assert "helm push named no digest" in done.stderr
    assert "cosign" not in calls
    assert output == ""
