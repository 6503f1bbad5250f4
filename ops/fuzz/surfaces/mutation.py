"""Inputs that are nearly right: seeds with members, numbers, texts and bytes changed at random."""

import json
import random
from collections.abc import Callable

INTEGERS = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "2305843009213693952",
    "9223372036854775806",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775807",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551614",
    "18446744073709551615",
    "18446744073709551616",
    "253402300799999",
    "253402300800000",
    "-62135596800000",
    "-62135596800001",
    "1" + "0" * 30,
    "-1" + "0" * 30,
    "9" * 400,
]
CORE = [
    "0",
    "-1",
    "2147483648",
    "9007199254740992",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e300",
    "-1e300",
    "nan",
]
"""Those that most often do harm."""

FRACTIONS = [
    "0.0",
    "-0.0",
    "0.5",
    "-0.5",
    "1e300",
    "-1e300",
    "1e308",
    "1.7976931348623157e308",
    "1.8e308",
    "-1.8e308",
    "1e999",
    "-1e999",
    "1e-400",
    "-1e-400",
    "4.9e-324",
    "2.2250738585072011e-308",
    "0." + "0" * 400 + "1",
    "1e+0",
    "1E5",
    "9223372036854775807.0",
    "9223372036854775808.0",
    "-9223372036854775808.0",
    "1.8446744073709552e19",
    "9007199254740993.0",
    "0.1" + "0" * 500,
    "1e18",
    "1e19",
    "1e38",
    "3.4028236e38",
]
NO_NUMBERS = [
    "nan",
    "NaN",
    "-nan",
    "inf",
    "Infinity",
    "-inf",
    "-Infinity",
    "00",
    "007",
    "-01",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "--1",
    "0x10",
    "0x1p3",
    "1_000",
    "1,5",
    "１２",
    "-",
    "",
    " 1",
    "1 ",
    "1\u00001",
]
"""The ends of every range that a program may count in, and texts that only look like numbers."""

TEXTS = [
    "",
    " ",
    "\0",
    "\u0001\u001f\u007f",
    "\ufeff",
    "\u200b",
    "\u202e",
    "\U0001f35c" * 3,
    "e\u0301" * 40,
    "\u0301" * 200,
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U0010ffff",
    "ﷺ" * 50,
    "null",
    "true",
    "%00",
    "%zz",
    "%",
    "%25%32%30",
    "%f0%9f%8d%9c",
    "..",
    "../../etc/passwd",
    "/",
    "\\",
    "\r\n",
    "a\r\nX-Injected: 1",
    "'\"`$(id)",
    "<script>",
    "${x}",
    "{0}",
    "%s%n%d",
    "javascript:alert(1)",
    "http://",
    "https://host:99999/",
    "https://[::1",
    "http://user:pw@host/",
    "//host",
    "file:///",
    "data:,x",
    "http://\u200b",
    "2026-11-21T09:30:00.341Z",
    "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "10000-01-01T00:00:00Z",
    "2026-02-30T25:61:61Z",
    "-2026-01-01T00:00:00Z",
    "2026-11-21T09:30:00+99:99",
    "2026-11-21T09:30:00.99999999999999999999Z",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sat, 31 Dec 99999 23:59:59 GMT",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-" + "0" * 32 + "-" + "0" * 16 + "-00",
    "ff-" + "f" * 32 + "-" + "f" * 16 + "-ff",
    "America/Los_Angeles",
    "1h.GNH4mcPC.21",
    "x" * 127,
    "x" * 128,
    "x" * 129,
    "x" * 4096,
    "あ" * 128,
    "ab" * 9000,
]


class Raw(str):
    """A piece of JSON that is written as it is, right or wrong."""


class Members(list):
    """The members of a JSON object as pairs, so that a name may stand twice."""


def parse(text: str | bytes):
    return json.loads(text, object_pairs_hook=Members, parse_float=Raw, parse_int=Raw)


def dumps(value, escape: Callable[[str], str] | None = None) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, str):
        return (escape or quoted)(value)
    if isinstance(value, Members):
        return "{" + ",".join(f"{(escape or quoted)(name)}:{dumps(inner, escape)}" for name, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(dumps(inner, escape) for inner in value) + "]"
    return json.dumps(value)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def escaped(text: str) -> str:
    """Writes a text with all of its characters as escapes."""
    data = text.encode("utf-16-be", "surrogatepass")
    return '"' + "".join(f"\\u{data[i] << 8 | data[i + 1]:04x}" for i in range(0, len(data), 2)) + '"'


class Mutator:
    """Changes seeds. All of its choices come from one source, so that the same seed gives the same input."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def pick(self, of):
        return of[int(self.chance.random() * len(of))]

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def number(self) -> str:
        """Returns a number as text: the end of a range, its neighbour, any number, or what only looks like one."""
        kind = self.chance.random()
        if kind < 0.25:
            return self.pick(CORE)
        if kind < 0.5:
            return self.pick(INTEGERS)
        if kind < 0.7:
            return self.pick(FRACTIONS)
        if kind < 0.85:
            return self.pick(NO_NUMBERS)
        if kind < 0.95:
            return str(self.chance.randrange(-(2**64), 2**64) >> self.chance.randrange(64))
        return repr(self.chance.uniform(-1, 1) * 10.0 ** self.chance.randrange(-320, 308))

    def integer(self, low: int = -(2**63), high: int = 2**63 - 1) -> int:
        """Returns a whole number of the range, preferably one near an end of some range."""
        if self.often(0.7):
            found = (
                self.pick((-(2**63), 2**63 - 1))
                if self.often(0.25)
                else int(self.pick(INTEGERS)) + self.pick((-1, 0, 0, 1))
            )
        else:
            found = self.chance.randrange(-(2**63), 2**63) >> self.chance.randrange(63)
        return min(max(found, low), high)

    def text(self) -> str:
        kind = self.chance.random()
        if kind < 0.6:
            return self.pick(TEXTS)
        if kind < 0.85:
            return self.number()
        return "".join(
            chr(
                self.pick(
                    (
                        self.chance.randrange(32, 127),
                        self.chance.randrange(0, 0x800),
                        self.chance.randrange(0x3000, 0x9FFF),
                    )
                )
            )
            for _ in range(self.chance.randrange(1, 40))
        )

    def some_bytes(self) -> bytes:
        return (
            self.chance.randbytes(self.chance.randrange(0, 300))
            if self.often(0.5)
            else self.text().encode("utf-8", "surrogatepass")
        )

    def spoil(self, data: bytes) -> bytes:
        """Returns bytes of which some were changed, taken out, doubled or put in."""
        for _ in range(self.chance.randrange(1, 4)):
            at, kind = self.chance.randrange(len(data) + 1), self.chance.randrange(7)
            if kind == 0:
                data = data[:at]
            elif kind == 1:
                data = data[:at] + bytes([self.chance.randrange(256)]) + data[at + 1 :]
            elif kind == 2:
                data = data[:at] + data[at + self.chance.randrange(1, 20) :]
            elif kind == 3:
                end = min(len(data), at + self.chance.randrange(1, 200))
                data = data[:end] + data[at:end] * self.pick((1, 1, 1, 50)) + data[end:]
            elif kind == 4:
                data = (
                    data[:at]
                    + self.pick(
                        (
                            b"\xff",
                            b"\xc3",
                            b"\xed\xa0\x80",
                            b"\xf4\x90\x80\x80",
                            b"\0",
                            b"\xef\xbb\xbf",
                            b"\\u0000",
                            b"\\ud800",
                            b'"',
                            b"{",
                            b"]",
                            b"\n",
                        )
                    )
                    + data[at:]
                )
            elif kind == 5:
                data = data[:at] + self.number().encode() + data[at + self.chance.randrange(0, 5) :]
            else:
                data = data[:at] + self.chance.randbytes(self.chance.randrange(1, 20)) + data[at:]
        return data

    # JSON

    def leaf(self):
        kind = self.chance.random()
        if kind < 0.5:
            return Raw(self.number() or "0")
        if kind < 0.85:
            return self.text()
        return self.pick(
            (
                None,
                True,
                False,
                Members(),
                [],
                Raw("[" * 600 + "]" * 600),
                Raw('{"a":' * 300 + "1" + "}" * 300),
                Members([("a", Raw("1"))]),
                [Raw("1")] * 50,
            )
        )

    def json(self, seed, share_of_spoilt: float = 0.15) -> bytes:
        """Returns the bytes of a parsed seed after one to three changes of its structure, or of its bytes."""
        value = copied(seed)
        for _ in range(self.pick((0, 1, 1, 1, 2, 3))):
            value = self._changed(value)
        text = dumps(value, escaped if self.often(0.05) else None)
        if self.often(0.05):
            text = " \n\t" + text.replace(",", " ,\r\n") + "  "
        data = text.encode("utf-8", "surrogatepass")
        return self.spoil(data) if self.often(share_of_spoilt) else data

    def _changed(self, value):
        slots = places(value)
        if not slots:
            return self.leaf()
        if self.often(0.5):  # Numbers are what most often goes wrong.
            slots = [
                s for s in slots if isinstance(s[0][s[1]][1] if isinstance(s[0], Members) else s[0][s[1]], Raw)
            ] or slots
        owner, index = self.pick(slots)
        kind = self.chance.random()
        inner = owner[index][1] if isinstance(owner, Members) else owner[index]
        if kind < 0.6:
            if isinstance(inner, Raw) and self.often(0.85):
                inner = Raw(self.number() or "0")
            elif isinstance(inner, str) and self.often(0.8):
                inner = self.text() if self.often(0.7) else Raw(escaped(inner + self.text()))
            else:
                inner = self.leaf()
        elif kind < 0.7:
            inner = None
        elif kind < 0.8:
            del owner[index]
            return value
        elif kind < 0.9:
            owner.insert(index, (owner[index][0], self.leaf()) if isinstance(owner, Members) else self.leaf())
            return value
        elif isinstance(owner, Members):
            owner[index] = (self.text(), inner)
            return value
        else:
            owner.extend([inner] * self.pick((1, 10, 200)))
            return value
        owner[index] = (owner[index][0], inner) if isinstance(owner, Members) else inner
        return value


def copied(value):
    if isinstance(value, Members):
        return Members((name, copied(inner)) for name, inner in value)
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value


def places(value, found: list | None = None) -> list:
    """Returns where each value within a value stands, as pairs of its owner and its index there."""
    found = [] if found is None else found
    if isinstance(value, list):
        for i, inner in enumerate(value):
            found.append((value, i))
            places(inner[1] if isinstance(value, Members) else inner, found)
    return found
