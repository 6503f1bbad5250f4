#!/usr/bin/env python3
"""Lints and renders the Helm chart with Helm's own library, and compares it with the production overlay.

    chart.py [VALUES.yaml]      prints what `helm template locsearch` would, after `helm lint --strict`

The library is Helm 4's, in a wheel. The release workflow runs `helm lint` and `helm template` of Helm 3 too.
"""

import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "ops/helm/locsearch"
RELEASE, NAMESPACE = "locsearch", "location-search"
LINT_WARNING = 2

# Labels and annotations that say who made an object, which differ.
MAKERS = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "app.kubernetes.io/part-of",
    "helm.sh/chart",
    "helm.sh/hook",
    "helm.sh/hook-weight",
    "helm.sh/hook-delete-policy",
    "checksum/settings",
)


def documents(text: str) -> Iterator[Any]:
    """Yields what a YAML text holds, by libyaml's parser, which takes a tenth of the time of the one in Python."""
    return yaml.load_all(text, yaml.CSafeLoader)


def render(values: str | None) -> str:
    """Returns the manifests for a values file, by a program of its own, whose notes nobody needs.

    Raises SystemExit with what Helm found.
    """
    command = [sys.executable, os.fspath(Path(__file__)), *([] if values is None else [os.fspath(CHART / values)])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"helm, {values or 'values.yaml'}: {done.stdout.strip()}\n{done.stderr.strip()}")
    return done.stdout


def differences(overlay: list[dict], chart: list[dict]) -> Iterator[str]:
    """Yields where the chart with its default values differs from the production overlay."""
    overlay_by_name, chart_by_name = _by_name(overlay), _by_name(chart)
    # A hook runs before all other objects, so that it has a ConfigMap of its own.
    del chart_by_name["ConfigMap locsearch-topics"]
    for name in sorted(overlay_by_name.keys() | chart_by_name.keys()):
        if name not in chart_by_name or name not in overlay_by_name:
            yield f"{name} is only in the {'overlay' if name in overlay_by_name else 'chart'}"
        else:
            # The chart labels all objects, the overlay those that something selects.
            if "labels" not in overlay_by_name[name]["metadata"]:
                chart_by_name[name]["metadata"].pop("labels", None)
            yield from _compare(name, overlay_by_name[name], chart_by_name[name])


def _compare(place: str, overlay: Any, chart: Any) -> Iterator[str]:
    if isinstance(overlay, dict) and isinstance(chart, dict):
        for key in sorted(overlay.keys() | chart.keys()):
            yield from _compare(f"{place}.{key}", overlay.get(key), chart.get(key))
    elif isinstance(overlay, list) and isinstance(chart, list) and len(overlay) == len(chart):
        for number, (one, other) in enumerate(zip(overlay, chart)):
            yield from _compare(f"{place}[{number}]", one, other)
    elif overlay != chart:
        yield f"{place}: {overlay!r} in the overlay, {chart!r} in the chart"


def _by_name(objects: list[dict]) -> dict[str, dict]:
    return {f"{thing['kind']} {_name(thing['metadata']['name'])}": _normalized(thing) for thing in objects}


def _name(name: str) -> str:
    """Kustomize appends a hash to the name of the ConfigMap."""
    return "locsearch-worker" if name.startswith("locsearch-worker-") else name


def _normalized(value: Any) -> Any:
    if isinstance(value, dict):
        if "worker.yaml" in value:
            value = value | {"worker.yaml": next(documents(value["worker.yaml"]))}
        value = {key: _normalized(one) for key, one in value.items() if key not in (*MAKERS, "namespace")}
        if value.get("name") == "settings" and "configMap" in value:
            value["configMap"] = "that of the settings"
        if "env" in value:
            value["env"] = sorted(value["env"], key=lambda one: str(one["name"]))
        return {key: one for key, one in value.items() if one not in ({}, None)}
    if isinstance(value, list):
        return [_normalized(one) for one in value]
    return _name(" ".join(value.split())) if isinstance(value, str) else value


def custom_problems(objects: list[dict]) -> Iterator[str]:
    """Yields what the operators' own schemas do not allow. Kubernetes' schemas do not have these kinds."""
    import jsonschema  # Takes 1.5 s, which render()'s process does not need.

    schemas = custom_schemas()
    for thing in objects:
        if thing["kind"] in schemas:
            for error in jsonschema.Draft202012Validator(schemas[thing["kind"]]).iter_errors(thing):
                best = jsonschema.exceptions.best_match([error])
                yield f"{thing['kind']} {thing['metadata']['name']}: {best.json_path}: {best.message[:300]}"


@functools.cache
def custom_schemas() -> dict[str, dict]:
    """Returns the schema of each kind that is not Kubernetes' own, which allows no other fields."""
    from cloudcoil.models.keda import v1alpha1
    from cloudcoil.models.prometheus_operator import v1

    models = (v1alpha1.ScaledObject, v1.PodMonitor, v1.ServiceMonitor, v1.PrometheusRule)
    schemas = {model.__name__: model.model_json_schema(by_alias=True) for model in models}
    for schema in schemas.values():
        for definition in [schema, *schema["$defs"].values()]:
            if "properties" in definition:
                definition["additionalProperties"] = False
    # KEDA's documentation has these values, which are newer than the models.
    schemas["ScaledObject"]["$defs"]["Fallback"]["properties"]["behavior"] = {
        "enum": ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]
    }
    return schemas


def main() -> int:
    import helm_python

    values = next(documents(Path(sys.argv[1]).read_text(encoding="utf-8"))) if len(sys.argv) > 1 else {}
    report = helm_python.lint(CHART, values, strict=True, namespace=NAMESPACE)
    found = [one for one in report["messages"] if one["severity"] >= LINT_WARNING]
    if found:
        print("\n".join(f"{one['path']}: {one['error']}" for one in found))
        return 1
    with helm_python.Chart.load(CHART) as chart:
        manifests = chart.render(values, name=RELEASE, namespace=NAMESPACE)
    for text in manifests.values():
        for thing in documents(text):
            if thing:
                # Helm puts a release into its namespace when it installs it.
                thing["metadata"].setdefault("namespace", NAMESPACE)
                print("---")
                print(yaml.dump(thing, Dumper=yaml.CSafeDumper, sort_keys=False), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
