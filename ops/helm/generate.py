#!/usr/bin/env python3
"""Writes what the chart and the overlays have of the settings and of the alerts, so that neither is written twice.

    ops/helm/generate.py [--check]     --check writes nothing, and fails where a file is not what it should be

The settings come from the table in docs/settings.md, which `locsearch config --table` writes. Exit status: 0 done,
1 a file differs.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "ops/helm/locsearch"
RULE = ROOT / "ops/kubernetes/components/prometheus-rule/prometheus-rule.yaml"
BEGIN, END = "# settings: written by `make chart`\n", "# end of settings\n"

NOTES = """\
# Every setting that may stand here, as a comment with its default: docs/settings.md. Keys, passwords and tokens
# belong into Secrets. A setting that is misspelt or out of range is refused before anything is installed.
"""

# What a first release must have; all other settings are comments in values.yaml.
ACTIVE = {"kafka.bootstrapServers": "kafka:9092", "kafka.groupId": None, "worker.shutdownGrace": None}
# Secrets do not belong in a ConfigMap.
SECRET = re.compile(r"\.(apiKey|password|keyPassword|clientSecret|token|headers)$")
# The chart sets these by the environment, which comes first.
BY_THE_CHART = re.compile(r"^(admin\.(host|port|tokenFile)|console\.(host|port|tokenFile|workers)|\w+\.apiKeyFile)$")
PROVIDERS = ("googlePlaces", "googlePlacesLegacy", "hotpepper")
DURATION = r"^[0-9]+(\.[0-9]+)?(ms|s|m|h)$"


def settings() -> dict[str, tuple[str, str]]:
    """Returns default and description by the name of each setting that may stand in the ConfigMap."""
    page = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Za-z.]+)` \| `[A-Z_]+` \| `?([^|`]*)`? \| (.*) \|$", page, re.MULTILINE)
    named = {name: (default.strip(), text.replace("\\|", "|")) for name, default, text in rows}
    return {name: row for name, row in named.items() if not SECRET.search(name) and not BY_THE_CHART.match(name)}


def schema_of(default: str, text: str) -> dict[str, Any]:
    """Returns the schema of a setting, as far as its row tells. The program checks the rest when it starts."""
    row: dict[str, Any] = {"description": text}
    inside = (re.findall(r"\(([^()]*)\)$", text) or [""])[0]
    choices = inside.split(", ")
    if default in ("true", "false"):
        return row | {"type": "boolean"}
    if found := re.fullmatch(r"(-?[\d.]+) to (-?[\d.]+)", inside):
        return row | {"type": "number", "minimum": float(found[1]), "maximum": float(found[2])}
    if re.fullmatch(r"\d+(ms|s|m|h) to \d+(ms|s|m|h)(, or off)?", inside):
        return row | {"type": "string", "pattern": DURATION + ("|^off$" if inside.endswith("off") else "")}
    if len(choices) > 1 and default in choices:
        return row | {"type": "string", "enum": choices}
    return row | {"type": ["string", "number", "array", "object"]}


def tree(rows: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Returns a dictionary in which each dot of a name is a level."""
    root: dict[str, Any] = {}
    for name, row in rows.items():
        *folders, leaf = name.split(".")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})
        place[leaf] = row
    return root


def settings_schema(branch: dict[str, Any]) -> dict[str, Any]:
    properties = {
        name: settings_schema(value) if isinstance(value, dict) else schema_of(*value) for name, value in branch.items()
    }
    return {"type": ["object", "null"], "additionalProperties": False, "properties": properties}


def values_schema(value: Any) -> dict[str, Any]:
    """Returns a schema of the chart's other values, of the types that values.yaml has."""
    if isinstance(value, dict) and value:
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: values_schema(one) for name, one in value.items()},
        }
    kinds = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
    return {"type": kinds[type(value)]} if value is not None else {"type": ["integer", "null"]}


def commented(branch: dict[str, Any], prefix: str = "", depth: int = 1) -> list[str]:
    """Returns the lines of a branch. Each setting is a comment, except those of ACTIVE."""
    lines = []
    for name, value in branch.items():
        path = prefix + name
        indent = "  " * depth
        if isinstance(value, dict):
            below = commented(value, f"{path}.", depth + 1)
            is_active = any(active.startswith(f"{path}.") for active in ACTIVE)
            lines += [f"{indent}{'' if is_active else '# '}{name}:", *below]
            continue
        default, text = value
        lines += [f"{indent}# {line}" for line in wrapped(text, 110 - len(indent))]
        if path in ACTIVE:
            lines.append(f"{indent}{name}: {ACTIVE[path] or default}")
        else:
            lines.append(f"{indent}# {name}:{' ' + quoted(default) if default else ''}")
    return lines


def quoted(default: str) -> str:
    return f'"{default}"' if default in ("off", "on") else default


def wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def rule() -> str:
    """Returns the alerts as the Prometheus Operator takes them."""
    groups = yaml.safe_load((ROOT / "ops/prometheus/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    thing = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "locsearch-worker"},
        "spec": {"groups": groups},
    }
    text: str = yaml.safe_dump(thing, sort_keys=False, allow_unicode=True, width=10**6)
    return "# Written by `make chart` from ops/prometheus/alerts.yaml, which explains the rules.\n" + text


def files() -> dict[Path, str]:
    rows = settings()
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    own = text[: text.index(BEGIN)]
    block = ["settings:", *commented(tree(rows))]
    values = own + BEGIN + NOTES + "\n".join(block) + "\n" + END

    # Each provider has the settings of providers.default.
    for name, row in list(rows.items()):
        if name.startswith("providers.default."):
            rows |= {name.replace(".default.", f".{provider}.", 1): row for provider in PROVIDERS}
    schema = values_schema(yaml.safe_load(own))
    schema["properties"] |= {"settings": settings_schema(tree(rows)), "global": {"type": "object"}}
    schema["properties"]["image"]["properties"]["digest"]["pattern"] = "^(sha256:[0-9a-f]{64})?$"
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    return {
        CHART / "values.yaml": values,
        CHART / "values.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n",
        RULE: rule(),
    }


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    differing = []
    for path, text in files().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        differing.append(path)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in differing if check else []:
        print(f"{path.relative_to(ROOT)} is not what its sources say: run `make chart`", file=sys.stderr)
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
