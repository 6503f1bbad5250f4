#!/usr/bin/env python3
"""Says what Python's own JSON module makes of documents, so that another reader can be compared with it.

Input: a document after the other, each with its length in four bytes before it (big-endian). Output: a line for each,
which is `broken` or the document's value:

    n  t  f                 null, true, false
    d<hex> or d<hex>:<int>  a number: the bits of the nearest double, and the whole number that it is, if it
                            fits 64 bits
    d                       a number that no double holds
    s<hex>  x               a string in UTF-8; one that is no valid text
    [...]  {...}            values; keys and values by turns, in their order, with keys that come twice
"""

import json
import struct
import sys

# What the reader allows.
MAXIMUM_DEPTH = 64


class Members(list):
    """The members of an object in their order."""


class Number(str):
    """A number as it is written."""


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def number(text):
    double = float(text)
    if double in (float("inf"), float("-inf")):
        return "d"
    bits = struct.pack(">d", double).hex()
    whole = None
    if all(character in "-0123456789" for character in text):
        # No longer number fits, and Python refuses to read very long ones.
        whole = int(text) if len(text) <= 40 else None
    elif abs(double) <= 2**53 and double == int(double):
        whole = int(double)
    return f"d{bits}" if whole is None or not -(2**63) <= whole < 2**63 else f"d{bits}:{whole}"


def text(value):
    try:
        return "s" + value.encode("utf-8").hex()
    except UnicodeEncodeError:
        return "x"


def written(value, depth=1):
    """The value as a line has it. Containers of the first level have the depth 1."""
    if isinstance(value, list) and depth > MAXIMUM_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, Number):
        return number(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Members):
        return "{" + "".join(text(name) + written(item, depth + 1) for name, item in value) + "}"
    if isinstance(value, list):
        return "[" + "".join(written(item, depth + 1) for item in value) + "]"
    return {None: "n", True: "t", False: "f"}[value]


def verdict(document):
    # A byte order mark is skipped. Bytes that are no UTF-8 become halves of surrogate pairs, which no text may hold.
    characters = document.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    try:
        value = json.loads(
            characters, object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=refuse
        )
        return written(value)
    except (ValueError, RecursionError):
        return "broken"


def main():
    data = sys.stdin.buffer.read()
    place = 0
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        print(verdict(data[place + 4 : place + 4 + length]))
        place += 4 + length


main()
