#!/usr/bin/env python3
"""Writes the event types of both client packages from schemas/.

    clients/generate.py            writes location_search_client/events.py and typescript/src/events.ts
    clients/generate.py --check    writes nothing, and ends with 1 when a file is not what it would write

Every keyword of the schemas ends up in a type or in its comment. A keyword that this program does not know is an error,
so no part of the contract is left out unnoticed.
"""

import difflib
import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
OUTPUTS = {
    "python": HERE / "python/src/location_search_client/events.py",
    "typescript": HERE / "typescript/src/events.ts",
}

# The schemas name few of their types. A path to an object stands beside the name of its type. Where the members depend
# on a discriminator, a name for each variant follows, in the order of the discriminator's values.
NAMES: dict[str, list[str]] = {
    "request": ["Request", "SearchRequest", "PlaceRequest"],
    "result": ["Result", "SearchResult", "DetailsResult", "PhotoResult"],
    "result/photo": ["Photo"],
    "result/search": ["SearchedArea"],
    "error": ["ErrorEvent"],
    "error/error": ["Failure", "FinalFailure", "RetryableFailure"],
}

Schema = dict[str, Any]
ABSENT = object()  # a discriminator's value where the member is left out


# What both languages write


@dataclass(frozen=True)
class Type:
    """A type expression: a simple type, a name, a list of `items`, or one of `values`."""

    name: str = ""
    items: "Type | None" = None
    values: tuple[str | bool, ...] = ()
    nullable: bool = False


@dataclass(frozen=True)
class Member:
    name: str
    type: Type
    required: bool
    comment: str


@dataclass(frozen=True)
class Record:
    """An object. It has the members of `base` too."""

    name: str
    comment: str
    members: tuple[Member, ...]
    base: str = ""


@dataclass(frozen=True)
class Alias:
    """A name for a list of values, or for the variants of a record."""

    name: str
    comment: str
    values: tuple[str | bool, ...] = ()
    variants: tuple[str, ...] = ()


@dataclass
class Contract:
    """All types by name, and the constants, in the order in which they are written."""

    types: dict[str, Record | Alias] = field(default_factory=dict)
    constants: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def add(self, new: Record | Alias) -> None:
        if self.types.setdefault(new.name, new) != new:
            raise ValueError(f"two schemas disagree on {new.name}")


# From schemas to types


class Reader:
    """Reads one schema into a contract."""

    RANGES = (("minimum", "maximum", ""), ("minLength", "maxLength", " character"), ("minItems", "maxItems", " item"))
    TEXTS = {
        "exclusiveMinimum": "More than {}.",
        "format": "Format: {}.",
        "default": "Default: {}.",
        "pattern": "Matches `{}`.",
    }
    STRUCTURE = {"type", "enum", "const", "items", "properties", "required", "additionalProperties", "$defs", "$ref"}
    FORBIDDEN = {"const": "Is not `{}`.", "pattern": "Does not match `{}`."}
    CONDITIONS = {"if", "then", "else", "allOf", "anyOf", "not"}
    JSON_TYPES = {str: "string", bool: "boolean", type(None): "null"}
    LIMITS = {*TEXTS, "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
    KNOWN = {"$schema", "$id", "title", "description", *STRUCTURE, *CONDITIONS, *LIMITS}

    def __init__(self, contract: Contract, root: Schema):
        self.contract, self.root = contract, root

    def resolve(self, schema: Schema) -> Schema:
        """Merges what a reference points to with the keywords beside the reference, which win."""
        if unknown := schema.keys() - self.KNOWN:
            raise ValueError(f"keywords that generate.py does not know: {sorted(unknown)}")
        if "$ref" not in schema:
            return schema

        target = self.root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return {**self.resolve(target), **{key: value for key, value in schema.items() if key != "$ref"}}

    def comment(self, schema: Schema) -> str:
        parts = [schema.get("description", "")]
        for least, most, unit in self.RANGES:
            bounds = [str(schema[bound]) for bound in (least, most) if bound in schema]
            if bounds:
                prefix = "" if len(bounds) == 2 else "At least " if least in schema else "At most "
                plural = "s" if unit and bounds[-1] != "1" else ""
                parts.append(f"{prefix}{' to '.join(bounds)}{unit}{plural}.")
        parts += [text.format(schema[key]) for key, text in self.TEXTS.items() if key in schema]
        if "$ref" not in (items := schema.get("items", {"$ref": ""})) and (each := self.comment(items)):
            parts.append(f"Each: {each}")
        if "not" in schema:
            [(key, value)] = schema["not"].items()
            parts.append(self.FORBIDDEN[key].format(value))
        if "anyOf" in schema:
            parts.append(f"One of these: {'; or: '.join(map(self.alternative, schema['anyOf']))}")
        return " ".join(filter(None, parts))

    def alternative(self, schema: Schema) -> str:
        """Returns a branch of `anyOf` in words. It narrows members to one type, or narrows the items of a list."""
        members = schema.get("properties", {})
        for part in (schema, schema.get("items", {}), *members.values()):
            self.resolve(part)
        return " ".join(f"{name} is {part['type']}." for name, part in members.items()) or self.comment(schema)

    def type(self, schema: Schema, path: str) -> Type:
        """Returns the type of a value, and adds the records and value lists that it refers to."""
        name = schema.get("$ref", "").rpartition("/")[2].capitalize()
        resolved = self.resolve(schema)
        kinds = resolved.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        values = tuple([resolved["const"]] if "const" in resolved else resolved.get("enum", ()))
        nullable = None in values or "null" in kinds

        if values:
            if kinds and not all(self.JSON_TYPES[type(value)] in kinds for value in values):
                raise ValueError(f"{path}: {values} are not of the type {kinds}")
            values = tuple(value for value in values if value is not None)
            if not name:
                return Type(values=values, nullable=nullable)
            self.contract.add(Alias(name, self.comment(self.resolve({"$ref": schema["$ref"]})), values))
            return Type(name, nullable=nullable)

        kind = next((kind for kind in kinds if kind != "null"), "unknown")
        if kind == "array":
            return Type(items=self.type(resolved["items"], path), nullable=nullable)
        if kind == "object":
            names = [name] if name else NAMES[path]
            self.add_object(self.resolve({"$ref": schema["$ref"]}) if name else resolved, path, names)
            return Type(names[0], nullable=nullable)
        return Type(kind, nullable=nullable)

    def add_object(self, schema: Schema, path: str, names: list[str]) -> None:
        if schema["type"] != "object":
            raise ValueError(f"{path} is no object")
        discriminator, groups = self.variants(schema)
        if len(groups) != max(1, len(names) - 1):
            raise ValueError(f"{path}: {len(groups)} variants for the names {names}")

        if discriminator is None:
            self.contract.add(Record(names[0], self.comment(schema), self.members(schema, path)))
            return

        variants = [self.members(variant, path, discriminator, values) for values, variant in groups]
        common = tuple(member for member in variants[0] if all(member in members for members in variants))
        base = Record(f"{names[0]}Members", f"What every {names[0]} may have.", common)
        self.contract.add(base)
        for name, members, (values, _) in zip(names[1:], variants, groups):
            words = ["absent"] * (ABSENT in values) + [value for value in values if isinstance(value, str)]
            listed = " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
            comment = f"The {names[0]} whose {discriminator} is {listed}."
            own = tuple(member for member in members if member not in common)
            self.contract.add(Record(name, comment, own, base.name))
        self.contract.add(Alias(names[0], self.comment(schema), variants=tuple(names[1:])))

    def members(
        self, schema: Schema, path: str, discriminator: str | None = None, values: list[Any] | None = None
    ) -> tuple[Member, ...]:
        """Returns the members of an object whose discriminator has one of `values`."""
        members = []
        for name, subschema in schema["properties"].items():
            required = name in schema.get("required", ()) or (name == discriminator and ABSENT not in (values or ()))
            type_ = self.type(subschema, f"{path}/{name}")
            if values and name == discriminator:
                known = tuple(value for value in values if value is not ABSENT and value is not None)
                type_ = Type(values=known, nullable=None in values)
            members.append(Member(name, type_, required, self.comment(self.resolve(subschema))))
        return tuple(members)

    def variants(self, schema: Schema) -> tuple[str | None, list[tuple[list[Any], Schema]]]:
        """Returns the discriminator, and for each of the schemas that it selects the values that do and that schema."""
        self.resolve(schema)
        conditions = [schema] if "if" in schema else schema.get("allOf", [])
        if not conditions:
            return None, [([], schema)]

        [discriminator] = {name for condition in conditions for name in condition["if"]["properties"]}
        values = list(schema["properties"][discriminator]["enum"])
        values += [] if discriminator in schema.get("required", ()) else [ABSENT]
        groups: list[tuple[list[Any], Schema]] = []
        for value in values:
            variant = schema
            for condition in conditions:
                branch = condition.get("then" if self.matches(condition["if"], discriminator, value) else "else", {})
                variant = self.narrowed(variant, branch)
            same = [group for group in groups if group[1] == variant]
            if same:
                same[0][0].append(value)
            else:
                groups.append(([value], variant))
        return discriminator, groups

    @staticmethod
    def matches(condition: Schema, discriminator: str, value: Any) -> bool:
        if condition.keys() - {"properties", "required"}:
            raise ValueError(f"a condition that generate.py does not know: {condition}")
        if value is ABSENT:
            return discriminator not in condition.get("required", ())
        test = condition["properties"][discriminator]
        return value in (test["enum"] if "enum" in test else [test["const"]])

    @staticmethod
    def narrowed(schema: Schema, branch: Schema) -> Schema:
        """Returns a schema with what a `then` or an `else` adds to it. `{"not": {}}` forbids a member."""
        if branch.keys() - {"properties", "required"}:
            raise ValueError(f"a consequence that generate.py does not know: {branch}")
        properties = dict(schema["properties"])
        for name, extra in branch.get("properties", {}).items():
            if extra == {"not": {}}:
                del properties[name]
            else:
                properties[name] = {**properties[name], **extra}
        return {
            **schema,
            "properties": properties,
            "required": [*schema.get("required", ()), *branch.get("required", ())],
        }


def read_contract(folder: Path) -> Contract:
    contract = Contract()
    for kind in ("request", "result", "error"):
        schema = json.loads((folder / f"{kind}.schema.json").read_text(encoding="utf-8"))
        Reader(contract, schema).add_object(schema, kind, NAMES[kind])

    document = yaml.safe_load((folder / "asyncapi.yaml").read_text(encoding="utf-8"))
    retryable = contract.types["RetryableFailure"]
    assert isinstance(retryable, Record)
    [codes] = [member.type.values for member in retryable.members if member.name == "code"]
    contract.constants = {
        **{
            f"{channel.upper()}_TOPIC": (
                f"The default of the setting topics.{channel}.",
                document["channels"][channel]["address"],
            )
            for channel in ("requests", "results", "errors")
        },
        **{
            name: (f"`ce_type` of the event `{message}`.", document["components"]["messages"][message]["name"])
            for name, message in {"REQUESTED": "request", "COMPLETED": "result", "FAILED": "error"}.items()
        },
        "RETRYABLE_CODES": ("The error codes of requests that may succeed when they are sent again.", codes),
    }
    return contract


# From types to source


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 117 - len(indent), break_long_words=False, break_on_hyphens=False)


class Python:
    SIMPLE = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "unknown": "object"}

    def expression(self, type_: Type) -> str:
        if type_.values:
            values = [json.dumps(value) if isinstance(value, str) else str(value) for value in type_.values]
            text = f"Literal[{', '.join(values)}]"
        else:
            text = f"list[{self.expression(type_.items)}]" if type_.items else self.SIMPLE.get(type_.name, type_.name)
        return text + (" | None" if type_.nullable else "")

    def docstring(self, text: str, indent: str) -> list[str]:
        lines = wrapped(text.replace("\\", "\\\\"), indent)
        if len(lines) > 1 or (lines and len(lines[0]) > 114 - len(indent)):
            return [f'{indent}"""{lines[0]}', *[indent + line for line in lines[1:]], f'{indent}"""']
        return [f'{indent}"""{line}"""' for line in lines]

    def type(self, new: Record | Alias) -> Iterator[str]:
        if isinstance(new, Alias):
            yield f"{new.name} = " + (" | ".join(new.variants) or self.expression(Type(values=new.values)))
            yield from self.docstring(new.comment, "")
            return

        yield f"class {new.name}({new.base or 'TypedDict'}):"
        yield from self.docstring(new.comment, "    ")
        for number, member in enumerate(new.members):
            expression = self.expression(member.type)
            if number or new.comment:
                yield ""
            yield from self.line(
                f"    {member.name}: {expression if member.required else f'NotRequired[{expression}]'}"
            )
            yield from self.docstring(member.comment, "    ")

    @staticmethod
    def line(text: str) -> list[str]:
        """Breaks what is too long for a line within its outermost brackets, as ruff does."""
        if len(text) <= 120:
            return [text]
        indent = " " * (len(text) - len(text.lstrip()))
        start = next(index for index, character in enumerate(text) if character in "[(") + 1
        return [text[:start], f"{indent}    {text[start:-1]}", indent + text[-1]]

    def source(self, contract: Contract) -> str:
        lines = ['"""The events, as schemas/ describes them. clients/generate.py writes this file."""', ""]
        lines += ["from typing import Final, Literal, NotRequired, TypedDict"]
        for name, (comment, value) in contract.constants.items():
            text = f"frozenset({json.dumps(list(value))})" if isinstance(value, tuple) else json.dumps(value)
            lines += ["", *self.line(f"{name}: Final = {text}"), *self.docstring(comment, "")]
        for new in contract.types.values():
            lines += ["", "", *self.type(new)]
        return "\n".join(lines) + "\n"


class TypeScript:
    SIMPLE = {"integer": "number"}

    def array(self, items: Type) -> str:
        text = self.expression(items)
        return f"({text})[]" if " | " in text else f"{text}[]"

    def expression(self, type_: Type) -> str:
        if type_.values:
            text = " | ".join(json.dumps(value) for value in type_.values)
        else:
            text = self.array(type_.items) if type_.items else self.SIMPLE.get(type_.name, type_.name)
        return text + (" | null" if type_.nullable else "")

    def comment(self, text: str, indent: str) -> list[str]:
        lines = wrapped(text, indent + "   ")
        if len(lines) == 1 and len(indent + lines[0]) <= 113:
            return [f"{indent}/** {lines[0]} */"]
        return [f"{indent}/**", *[f"{indent} * {line}" for line in lines], f"{indent} */"] if lines else []

    def type(self, new: Record | Alias) -> Iterator[str]:
        yield from self.comment(new.comment, "")
        if isinstance(new, Alias):
            yield (
                f"export type {new.name} = "
                + (" | ".join(new.variants) or self.expression(Type(values=new.values)))
                + ";"
            )
            return

        yield f"export interface {new.name} {f'extends {new.base} ' if new.base else ''}{{"
        for member in new.members:
            yield from self.comment(member.comment, "  ")
            yield f"  {member.name}{'' if member.required else '?'}: {self.expression(member.type)};"
        yield "}"

    def source(self, contract: Contract) -> str:
        lines = ["// The events, as schemas/ describes them. clients/generate.py writes this file."]
        for name, (comment, value) in contract.constants.items():
            text = f"new Set<string>({json.dumps(list(value))})" if isinstance(value, tuple) else f"{json.dumps(value)}"
            type_ = ": ReadonlySet<string>" if isinstance(value, tuple) else ""
            lines += ["", *self.comment(comment, ""), f"export const {name}{type_} = {text};"]
        for new in contract.types.values():
            lines += ["", *self.type(new)]
        return "\n".join(lines) + "\n"


def sources(folder: Path) -> dict[str, str]:
    """Returns the source of each language, made from the schemas in a folder."""
    contract = read_contract(folder)
    return {"python": Python().source(contract), "typescript": TypeScript().source(contract)}


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 64

    status = 0
    for language, source in sources(HERE.parent / "schemas").items():
        path = OUTPUTS[language]
        if not sys.argv[1:]:
            path.write_text(source, encoding="utf-8")
        elif (present := path.read_text(encoding="utf-8")) != source:
            print(
                *difflib.unified_diff(present.splitlines(), source.splitlines(), str(path), "schemas/", lineterm=""),
                sep="\n",
            )
            print(f"{path} does not say what schemas/ says: run make client-types", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
