"""The types are those of the schemas: they follow each change, and type checkers judge the schemas' examples as the
schemas do.
"""

import copy
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(__file__).resolve().parents[1]
SCHEMAS = CLIENTS.parent / "schemas"
sys.path.insert(0, str(CLIENTS))
import generate

# Which schema an example belongs to, and the type that describes it.
TYPES = {"request": "Request", "result": "Result", "error": "ErrorEvent"}

# What only the schema can say: lengths, ranges, and the forms of texts.
BEYOND_TYPES = {
    "request/categories-51", "request/categories-and-category", "request/categories-empty", "request/categories-long",
    "request/categories-mixed-prefixes", "request/categories-prefix-only", "request/exclude-categories-empty-text",
    "request/exclude-categories-prefix-only", "request/category-long", "request/keyword-empty",
    "request/language-underscore", "request/latitude-91",
    "request/limit-zero", "request/page-token-empty", "request/place-id-long", "request/radius-negative",
    "request/request-id-empty", "request/request-id-long", "request/timeout-too-long", "error/retry-after-zero",
    "result/time-format",
}  # fmt: skip
# In TypeScript, integers are numbers.
BEYOND_TYPESCRIPT = {"request/limit-fraction", "request/timeout-fraction"}
# Types are stricter than the schema on purpose: a member that no worker knows is a mistake of the one who writes it.
STRICTER = {"request/unknown-members"}
# An integer that is written as 20.0 is one for JSON, and none for Python.
STRICTER_IN_PYTHON = {"request/integers-with-fraction"}


def test_committed_types_are_those_of_the_schemas() -> None:
    for language, source in generate.sources(SCHEMAS).items():
        assert generate.OUTPUTS[language].read_text(encoding="utf-8") == source, "run make client-types"


# Each change of a schema is seen


# They describe the schema and not the events.
WITHOUT_EFFECT = {"$schema", "$id", "title", "additionalProperties"}


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Returns the path of each value that is neither an object nor a list."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        if key in WITHOUT_EFFECT and not (path and path[-1] == "properties"):
            continue
        yield from leaves(child, (*path, key)) if isinstance(child, dict | list) else [(*path, key)]


def changed(schema: Any, path: tuple[str | int, ...]) -> Any:
    """Returns a schema with another value at a path: a number grows, a text gets another end."""
    schema = copy.deepcopy(schema)
    parent = schema
    for key in path[:-1]:
        parent = parent[key]
    value = parent[path[-1]]
    if isinstance(value, bool) or value is None:
        parent[path[-1]] = "changed" if value is None else not value
    else:
        parent[path[-1]] = value + 1 if isinstance(value, int | float) else value + "-changed"
    return schema


@pytest.mark.parametrize("kind", TYPES)
def test_each_changed_value_of_a_schema_changes_the_types(kind: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SCHEMAS, tmp_path / "schemas", ignore=shutil.ignore_patterns(".venv", "examples")))
    file = folder / f"{kind}.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    before = generate.sources(folder)

    unseen = []
    for path in leaves(schema):
        file.write_text(json.dumps(changed(schema, path)), encoding="utf-8")
        try:
            after = generate.sources(folder)
        except (KeyError, ValueError):
            continue  # generate.py refuses a schema that it does not understand
        if after["python"] == before["python"] or after["typescript"] == before["typescript"]:
            unseen.append("/".join(map(str, path)))
    assert unseen == []


def test_new_member_and_new_topic_change_the_types(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SCHEMAS, tmp_path / "schemas", ignore=shutil.ignore_patterns(".venv", "examples")))
    result, asyncapi = folder / "result.schema.json", folder / "asyncapi.yaml"
    schema = json.loads(result.read_text(encoding="utf-8"))
    schema["properties"]["cached"] = {"type": "boolean"}
    result.write_text(json.dumps(schema), encoding="utf-8")
    asyncapi.write_text(asyncapi.read_text().replace("address: location-search.errors", "address: elsewhere"))

    after = generate.sources(folder)
    assert "cached: NotRequired[bool]" in after["python"] and 'ERRORS_TOPIC: Final = "elsewhere"' in after["python"]
    assert "cached?: boolean;" in after["typescript"] and 'ERRORS_TOPIC = "elsewhere"' in after["typescript"]


def test_keyword_that_is_not_understood_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SCHEMAS, tmp_path / "schemas", ignore=shutil.ignore_patterns(".venv", "examples")))
    file = folder / "request.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    schema["properties"]["limit"]["multipleOf"] = 10
    file.write_text(json.dumps(schema), encoding="utf-8")

    with pytest.raises(ValueError, match="multipleOf"):
        generate.sources(folder)


# Type checkers judge examples as the schemas do


def examples() -> Iterator[tuple[str, bool, Any]]:
    """Returns each example's name, whether the schema accepts it, and its value."""
    for kind in TYPES:
        for path in sorted((SCHEMAS / "examples" / kind).glob("*.json")):
            yield f"{kind}/{path.stem}", True, json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((SCHEMAS / "examples/invalid" / kind).glob("*.json")):
            yield f"{kind}/{path.stem}", False, json.loads(path.read_text(encoding="utf-8"))["value"]


def judge(lines: list[str], names: list[str], output: str) -> set[str]:
    """Returns the names of the examples that a checker refuses. Each example is a line of the file that it checked."""
    numbers = {int(number) for number in re.findall(r"examples\.\w+[:(](\d+)", output)}
    return {names[number - 1 - (len(lines) - len(names))] for number in numbers}


def refused_by_mypy(folder: Path) -> set[str]:
    lines, names = ["from location_search_client import ErrorEvent, Request, Result"], []
    for number, (name, _, value) in enumerate(examples()):
        lines.append(f"e{number}: {TYPES[name.partition('/')[0]]} = {value!r}")
        names.append(name)
    file = folder / "examples.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={folder}/cache", str(file)]
    return judge(lines, names, subprocess.run(command, capture_output=True, text=True).stdout)


def refused_by_tsc(folder: Path) -> set[str]:
    lines, names = [f'import type {{ ErrorEvent, Request, Result }} from "{CLIENTS}/typescript/dist/index.js";'], []
    for number, (name, _, value) in enumerate(examples()):
        lines.append(f"export const e{number}: {TYPES[name.partition('/')[0]]} = {json.dumps(value)};")
        names.append(name)
    file = folder / "examples.ts"
    file.write_text("\n".join(lines), encoding="utf-8")
    options = [
        "--strict",
        "--exactOptionalPropertyTypes",
        "--noEmit",
        "--lib",
        "ES2022,DOM",
        "--moduleResolution",
        "node",
    ]
    return judge(lines, names, subprocess.run(["tsc", *options, str(file)], capture_output=True, text=True).stdout)


@pytest.mark.parametrize(
    ("refused", "beyond", "stricter"),
    [
        pytest.param(refused_by_mypy, BEYOND_TYPES, STRICTER | STRICTER_IN_PYTHON, id="Python"),
        pytest.param(refused_by_tsc, BEYOND_TYPES | BEYOND_TYPESCRIPT, STRICTER, id="TypeScript"),
    ],
)
def test_checker_refuses_what_the_schema_refuses(
    refused: Any, beyond: set[str], stricter: set[str], tmp_path: Path
) -> None:
    expected = {name for name, accepted, _ in examples() if not accepted} - beyond | stricter

    assert refused(tmp_path) == expected
