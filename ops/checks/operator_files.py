"""What the rules look at: the files that operators use, read once and taken apart."""

import functools
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import chart

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "ops/kubernetes"
OUR_IMAGE = "location-search-worker"

# What kubectl builds: the overlays, and the production overlay with the other ways to scale.
VARIANTS = {
    "production with scale-on-lag": ("components/scale-on-backlog", "components/scale-on-lag"),
    "production with scale-to-zero": ("# - ../../components/scale-to-zero", "- ../../components/scale-to-zero"),
}
# The values of the Helm chart, which is held to the same rules.
CHARTS = {"chart": None, "chart, secured": "values-secured.yaml"}
OVERLAYS = ["simulator", "production", *VARIANTS, *CHARTS]


@dataclass
class Files:
    """All that the rules need. Tests change one part of it and look whether a rule sees that."""

    texts: dict[str, str]  # every file that operators use, by its path in the repository
    compose: dict  # compose.yaml, with its anchors resolved
    overlays: dict[str, list[dict]]  # the objects of each overlay, as kubectl writes them
    dockerfile: str
    unit: str  # the systemd unit
    version: str  # of the program
    settings: dict[str, str]  # environment variable by the name of its setting
    defaults: dict[str, str]  # default by the name of the setting
    shutdown_grace: int  # seconds


@functools.cache
def build_overlay(name: str, kubectl: str) -> str:
    """Returns the objects of an overlay as YAML."""
    if name in CHARTS:
        return chart.render(CHARTS[name])
    if name not in VARIANTS:
        return _kubectl(KUBERNETES / "overlays" / name, kubectl)

    # A folder that differs from the production overlay in one component only.
    old, new = VARIANTS[name]
    with tempfile.TemporaryDirectory(dir=KUBERNETES / "overlays") as folder:
        source = KUBERNETES / "overlays/production"
        for file in source.iterdir():
            (Path(folder) / file.name).write_text(file.read_text().replace(old, new))
        return _kubectl(Path(folder), kubectl)


def _kubectl(folder: Path, kubectl: str) -> str:
    done = subprocess.run([kubectl, "kustomize", os.fspath(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"kubectl kustomize {folder.relative_to(ROOT)}: {done.stderr.strip()}")
    return done.stdout


def settings_of(page: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns variables and defaults by setting, from the table in docs/settings.md."""
    rows = re.findall(r"^\| `([A-Za-z.]+)` \| `([A-Z_]+)` \| `?([^|`]*)`? \|", page, re.MULTILINE)
    return {name: variable for name, variable, _ in rows}, {name: default.strip() for name, _, default in rows}


def load(overlays: dict[str, str]) -> Files:
    """Reads everything. `overlays` has what build_overlay() returned, by name."""
    paths = [ROOT / "compose.yaml", ROOT / ".dockerignore", ROOT / "ops/worker.yaml"]
    for folder in ("compose", "image", "kubernetes", "prometheus", "systemd"):
        paths += [path for path in (ROOT / "ops" / folder).rglob("*") if path.is_file()]
    paths += (ROOT / "ops/grafana/provisioning").rglob("*.yaml")
    texts = {os.fspath(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}

    settings, defaults = settings_of((ROOT / "docs/settings.md").read_text(encoding="utf-8"))
    version = re.search(r'current = "([^"]+)"', (ROOT / "Sources/Commands/locsearch/Version.swift").read_text())
    assert version, "Sources/Commands/locsearch/Version.swift names no version"
    return Files(
        texts=texts,
        compose=next(chart.documents(texts["compose.yaml"])),
        overlays={name: [part for part in chart.documents(text) if part] for name, text in overlays.items()},
        dockerfile=texts["ops/image/Dockerfile"],
        unit=texts["ops/systemd/locsearch-worker@.service"],
        version=version[1],
        settings=settings,
        defaults=defaults,
        shutdown_grace=int(defaults["worker.shutdownGrace"].removesuffix("s")),
    )


def pods(objects: list[dict]):
    """Yields the name and the pod of each object that starts pods."""
    for thing in objects:
        if thing["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield f"{thing['kind']} {thing['metadata']['name']}", thing["spec"]["template"]["spec"]


def is_ours(image: str) -> bool:
    return image.rsplit("/", 1)[-1].split("@")[0].split(":")[0] == OUR_IMAGE
