#!/usr/bin/env python3
"""Checks schemas, examples, the AsyncAPI document, and events that a worker really wrote, with independent tools:
jsonschema (JSON Schema 2020-12), asyncapi3 (AsyncAPI 3), cloudevents (the CloudEvents SDK).

    python3 -m venv .venv && .venv/bin/pip install -r schemas/requirements.txt
    .venv/bin/python schemas/validate.py                      # what lies in this folder
    .venv/bin/python schemas/validate.py --events out.jsonl   # records as well: a file, a folder of *.jsonl, or -

A record is one line of JSON: {"topic": ..., "key": ..., "headers": [[name, value], ...] or {name: value}, "value":
...}. Values are text, or {"base64": ...}; "keyBase64" and "valueBase64" hold bytes that are no text. Ends with 1 when
anything is wrong.
"""

import argparse
import base64
import json
import pathlib
import sys
import warnings

import yaml
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {"request": "requested", "result": "completed", "error": "failed"}
ASYNCAPI = "urn:asyncapi"


class Report:
    """Counts checks and prints those that fail."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, name, problem):
        """`problem` is falsy when all is well."""
        if problem:
            self.failed += 1
            print(f"FAILED {name}: {problem}", file=sys.stderr)
        else:
            self.passed += 1


def no_constants(text):
    raise ValueError(f"{text} is not JSON")


def load(text):
    return json.loads(text, parse_constant=no_constants)


NO_REFERENCES: Registry = Registry()


def validator(schema, registry=NO_REFERENCES):
    return Draft202012Validator(schema, registry=registry, format_checker=FormatChecker(["date-time"]))


def members(error):
    """The members that one validation error is about, as the contract writes them: `location.latitude`. A text in a
    list is named by the list.
    """
    path = ".".join(str(part) for part in error.absolute_path)
    names = []
    if error.validator == "required":
        names = [name for name in error.validator_value if name not in error.instance]
    elif error.validator == "additionalProperties":
        names = [name for name in error.instance if name not in error.schema.get("properties", {})]
    elif error.validator in ("if", "then", "else", "allOf", "anyOf", "oneOf"):
        return {name for inner in error.context for name in members(inner)}
    text = path.rstrip("0123456789").rstrip(".")
    return {f"{path}.{name}" if path else name for name in names} or {text or "value"}


def problems(schema_validator, value):
    return [
        f"{'.'.join(map(str, e.absolute_path)) or 'value'}: {e.message[:200]}"
        for e in schema_validator.iter_errors(value)
    ]


# Schemas and examples


def check_schemas(report):
    validators = {}
    for kind, version in KINDS.items():
        schema = load((HERE / f"{kind}.schema.json").read_text(encoding="utf-8"))
        errors = list(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema))
        report.check(f"{kind}.schema.json", errors and errors[0].message)
        report.check(f"{kind}.schema.json $id", schema["$id"] != f"urn:location-search:schema:{version}:v1")
        validators[kind] = validator(schema)
    return validators


def check_examples(report, validators):
    for kind in KINDS:
        for path in sorted((HERE / "examples" / kind).glob("*.json")):
            report.check(path.relative_to(HERE), problems(validators[kind], load(path.read_text(encoding="utf-8"))))
        for path in sorted((HERE / "examples" / "invalid" / kind).glob("*.json")):
            example = load(path.read_text(encoding="utf-8"))
            found = {name for e in validators[kind].iter_errors(example["value"]) for name in members(e)}
            expected = example["expectedMember"]
            report.check(
                path.relative_to(HERE), expected not in found and f"expected {expected}, found {found or 'nothing'}"
            )


# AsyncAPI


def references(node, path=""):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield path, value
            else:
                yield from references(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from references(value, f"{path}/{index}")


def resolve(document, reference):
    """What a reference points to: a place in the document, or a file beside it."""
    file, _, pointer = reference.partition("#")
    node = load((HERE / file).read_text(encoding="utf-8")) if file else document
    for part in pointer.split("/")[1:]:
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def check_asyncapi(report, validators):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's field names
        from asyncapi3.models.asyncapi import AsyncAPI3
    document = yaml.safe_load((HERE / "asyncapi.yaml").read_text(encoding="utf-8"))
    try:
        AsyncAPI3.model_validate(document)
        report.check("asyncapi.yaml", None)
    except ValueError as error:
        report.check("asyncapi.yaml", error)
    for path, reference in references(document):
        try:
            resolve(document, reference)
            report.check(f"asyncapi.yaml {path}", None)
        except (KeyError, OSError, ValueError) as error:
            report.check(f"asyncapi.yaml {path}", f"{reference} does not resolve: {error!r}")
    for name, operation in document["operations"].items():
        channel = operation["channel"]["$ref"].rpartition("/")[2]
        report.check(
            f"asyncapi.yaml operation {name}", channel not in document["channels"] and "its channel is missing"
        )
    for name, message in document["components"]["messages"].items():
        for example in message.get("examples", []):
            report.check(f"asyncapi.yaml example of {name}", problems(validators["request"], example["payload"]))
    registry = Registry().with_resource(ASYNCAPI, Resource.from_contents(document, DRAFT202012))
    return {
        name: validator({"$ref": f"{ASYNCAPI}#/components/schemas/{name}"}, registry)
        for name in ("requestHeaders", "resultHeaders", "errorHeaders", "deadLetterHeaders", "redriveMarkHeaders")
    }


# Events


def lines(source):
    if source == "-":
        yield from ((f"stdin:{number}", line) for number, line in enumerate(sys.stdin, 1))
        return
    path = pathlib.Path(source)
    for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
        with file.open(encoding="utf-8") as opened:
            yield from ((f"{file}:{number}", line) for number, line in enumerate(opened, 1))


def to_bytes(value):
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"base64"}:
        return base64.b64decode(value["base64"], validate=True)
    return value.encode() if isinstance(value, str) else json.dumps(value, ensure_ascii=False).encode()


def field(record, name):
    if f"{name}Base64" in record:
        return base64.b64decode(record[f"{name}Base64"], validate=True)
    return to_bytes(record.get(name))


def read_record(line):
    record = load(line)
    pairs = record.get("headers") or []
    headers = [(name, to_bytes(value)) for name, value in (pairs.items() if isinstance(pairs, dict) else pairs)]
    return record.get("topic", ""), field(record, "key"), field(record, "value"), headers


def text_headers(headers):
    """Header values as text, the last of a name, those that are no text left out."""
    found = {}
    for name, value in headers:
        try:
            found[name] = value.decode()
        except (AttributeError, UnicodeDecodeError):
            found.pop(name, None)
    return found


def check_cloudevent(key, value, headers):
    """Reads the record with the CloudEvents SDK; returns what is wrong."""
    from cloudevents.core.bindings.kafka import KafkaMessage, from_binary_event

    try:
        key = key.decode()
    except (AttributeError, UnicodeDecodeError):
        key = None  # the SDK takes every key for text; a request's key may be any bytes
    try:
        event = from_binary_event(KafkaMessage(headers=dict(headers), key=key, value=value))
    except Exception as error:  # whatever the SDK finds wrong with it
        return repr(error)
    expected = text_headers(headers)
    given = (event.get_id(), event.get_source(), event.get_type(), event.get_data())
    wanted = (expected["ce_id"], expected["ce_source"], expected["ce_type"], load(value))
    return given != wanted and f"the SDK reads {given[:3]} or other data"


def check_outcome(report, where, kind, record, validators, header_validators, seen):
    key, value, headers = record
    texts = text_headers(headers)
    report.check(f"{where} headers", problems(header_validators[f"{kind}Headers"], texts))
    try:
        body = load(value)
    except (TypeError, ValueError) as error:
        report.check(f"{where} value", error)
        return
    report.check(f"{where} value", problems(validators[kind], body))
    report.check(f"{where} key", key is None and "an outcome has a key")
    report.check(f"{where} CloudEvents SDK", check_cloudevent(key, value, headers))
    source = tuple(texts.get(f"source-{part}") for part in ("topic", "partition", "offset"))
    report.check(f"{where} ce_id", texts.get("ce_id") != "-".join(map(str, source)) and "is not its source's position")
    seen.setdefault((texts.get("ce_source"), texts.get("ce_id")), []).append(where)


def check_events(report, source, validators, header_validators, allow_repeats):
    counts: dict = {}
    seen: dict = {}
    for where, line in lines(source):
        if not line.strip():
            continue
        try:
            _, key, value, headers = read_record(line)
        except (ValueError, AttributeError, TypeError) as error:
            report.check(where, f"no record: {error!r}")
            continue
        texts = text_headers(headers)
        kind = {"location-search.completed.v1": "result", "location-search.failed.v1": "error"}.get(
            texts.get("ce_type")
        )
        if "dead-letter-reason" in texts:
            kind = "deadLetter"
            own = headers[max(i for i, (name, _) in enumerate(headers) if name == "dead-letter-reason") :]
            report.check(f"{where} headers", problems(header_validators["deadLetterHeaders"], text_headers(own)))
        elif "dead-letter-redriven" in texts:
            kind = "redriveMark"
            report.check(f"{where} headers", problems(header_validators["redriveMarkHeaders"], texts))
            report.check(f"{where} key and value", (key, value) != (None, None) and "a mark has neither")
        elif kind:
            check_outcome(report, where, kind, (key, value, headers), validators, header_validators, seen)
        elif texts.get("ce_type") == "location-search.requested.v1":
            kind = "request"  # may be wrong on purpose: not judged
        else:
            report.check(where, "neither an outcome, a dead letter, the mark of one nor a request event")
        counts[kind] = counts.get(kind, 0) + 1
    repeated = {id: places for id, places in seen.items() if len(places) > 1}
    if not allow_repeats:
        report.check(f"{source} ids", repeated and f"the same event more than once: {list(repeated.items())[:3]}")
    report.check(source, not (counts.get("result") or counts.get("error")) and "holds no outcome")
    print(f"{source}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=str)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--events", action="append", default=[], metavar="DIR|FILE.jsonl|-", help="records to check as well"
    )
    parser.add_argument("--allow-repeats", action="store_true", help="after a crash: the same event may be there twice")
    arguments = parser.parse_args()
    report = Report()
    validators = check_schemas(report)
    check_examples(report, validators)
    header_validators = check_asyncapi(report, validators)
    for source in [str(HERE / "examples" / "events.jsonl")] + arguments.events:
        check_events(report, source, validators, header_validators, arguments.allow_repeats)
    print(f"schemas: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
