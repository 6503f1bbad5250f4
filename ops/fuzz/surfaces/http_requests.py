"""Surfaces that are HTTP servers of ours: the admin endpoints of a worker, and the console."""

import asyncio
import json
import random
import re
import subprocess
import urllib.request
from typing import Any

from .engine import LineReader, unused_port
from .kafka import KafkaSurface, examples
from .mutation import Mutator, parse

METHODS = [
    "GET",
    "GET",
    "GET",
    "HEAD",
    "POST",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "",
    "X" * 300,
    "PRI",
]
VERSIONS = ["HTTP/1.1"] * 12 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/9", "HTTP/1.", ""]
HEADERS = [
    "Host",
    "Authorization",
    "Cookie",
    "Origin",
    "Referer",
    "Content-Type",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Last-Event-ID",
    "Accept",
    "Accept-Encoding",
    "Range",
    "If-None-Match",
    "If-Modified-Since",
    "Expect",
    "Upgrade",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "Sec-Fetch-Site",
    "TE",
    "Trailer",
]
TOKEN = "fuzz-token-of-32-characters-0001"


class HTTPSurface(KafkaSurface):
    """Requests as raw bytes, each on a connection of its own, many at a time."""

    at_once = 24
    paths: list[str] = []
    queries: list[str] = []
    bodies: list = []
    ports: Any = ()  # by number, or by name
    # The name of the console's cookie, which ends in a random suffix. Inputs have it without the suffix.
    cookie = b"locsearch-console"

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        method = mutate.pick(METHODS) if mutate.often(0.3) else "GET"
        path, body = mutate.pick(self.paths), b""
        if self.bodies and (method == "POST" or mutate.often(0.25)):
            if mutate.often(0.8):
                path, seed = mutate.pick(self.bodies)
                method = "POST"
            else:
                seed = mutate.pick(self.bodies)[1]
            body = mutate.json(seed)
            if mutate.often(0.02):
                body = mutate.pick((b"[" * 50_000, b"x" * 300_000, mutate.some_bytes()))
        while (at := path.find("*")) >= 0:
            path = (
                path[:at]
                + self.encoded(mutate, mutate.pick((mutate.number, mutate.number, mutate.text))().replace("*", ""))
                + path[at + 1 :]
            )
        if mutate.often(0.3) and self.queries:
            pairs = [
                f"{mutate.pick(self.queries)}={self.encoded(mutate, mutate.pick((mutate.number, mutate.text))())}"
                for _ in range(mutate.pick((1, 1, 2, 30)))
            ]
            path += mutate.pick(("?", "?", "?", "&", "#")) + "&".join(pairs)
        headers = [("Host", "127.0.0.1")]
        if body or mutate.often(0.05):
            headers.append(("Content-Length", str(len(body)) if mutate.often(0.9) else mutate.number()))
        if mutate.often(0.4):
            headers.append(
                mutate.pick(
                    (
                        ("Authorization", f"Bearer {TOKEN}"),
                        ("Cookie", "locsearch-console=abc"),
                        ("Origin", "http://127.0.0.1"),
                        ("Content-Type", "application/json"),
                        ("Last-Event-ID", mutate.number()),
                    )
                )
            )
        for _ in range(mutate.pick((0, 0, 1, 2, 3))):
            headers.append(
                (mutate.pick(HEADERS), mutate.pick((mutate.number, mutate.text, lambda: self.credential(mutate)))())
            )
        if mutate.often(0.02):
            headers += [(f"X-{i}", "y" * mutate.pick((1, 100, 9000))) for i in range(mutate.pick((100, 1000)))]
        if mutate.often(0.05):
            headers.pop(0)
        if mutate.often(0.03):
            headers = [h for h in headers if h[0] != "Content-Length"] + [
                ("Transfer-Encoding", mutate.pick(("chunked", "chunked", "gzip, chunked", "identity")))
            ]
            body = (
                mutate.pick((f"{len(body):x}", mutate.number())).encode("utf-8", "replace")
                + b"\r\n"
                + body
                + b"\r\n0\r\n\r\n"
            )
        lines = [f"{method} {path} {mutate.pick(VERSIONS)}", *(f"{name}: {value}" for name, value in headers), "", ""]
        raw = "\r\n".join(lines).encode("utf-8", "surrogatepass") + body
        if mutate.often(0.08):
            raw = mutate.spoil(raw)
        if mutate.often(0.02):
            raw *= 20
        return {"server": chance.randrange(2), "raw": raw}

    @staticmethod
    def encoded(mutate: Mutator, text: str) -> str:
        """Returns a text as it can stand in a request's first line, mostly percent-encoded, or as it is."""
        if mutate.often(0.05):
            return text
        keep = "/._-~:@!$'(),;=+" if mutate.often(0.9) else "/._-~%?&="
        return "".join(
            c
            if c.isascii() and (c.isalnum() or c in keep)
            else "".join(f"%{b:02X}" for b in c.encode("utf-8", "surrogatepass"))
            for c in text
        )

    @staticmethod
    def credential(mutate: Mutator) -> str:
        return mutate.pick(
            (
                f"Bearer {TOKEN}",
                "Bearer " + mutate.text(),
                "Basic dTpw",
                f"locsearch-console={mutate.text()}",
                "locsearch-console=; locsearch-console=x",
                "http://127.0.0.1",
                "null",
                "bytes=0-" + mutate.number(),
                "100-continue",
                "websocket",
                "h2c",
            )
        )

    def feed(self, inputs: list[dict]) -> None:
        asyncio.run(self.send_all(inputs))

    async def send_all(self, inputs: list[dict]) -> None:
        waiting = list(reversed(inputs))

        async def sender() -> None:
            while waiting:
                made = waiting.pop()
                try:
                    await asyncio.wait_for(self.send(self.ports[made["server"]], made["raw"]), 3)
                except (OSError, TimeoutError):
                    pass

        await asyncio.gather(*(sender() for _ in range(self.at_once)))

    async def send(self, port: int, raw: bytes) -> None:
        """Sends bytes and reads until an answer is whole, or nothing comes any more for a moment."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(raw.replace(b"locsearch-console=", self.cookie + b"="))
            await asyncio.wait_for(writer.drain(), 1)
            got = b""
            while True:
                part = await asyncio.wait_for(reader.read(1 << 18), 0.06)
                if not part:
                    return
                got += part
                head, found, body = got.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
                if found and length and len(body) >= int(length.group(1)):
                    return
        finally:
            writer.transport.abort()


class AdminHTTP(HTTPSurface):
    name = "admin-http"
    about = "requests to the admin port (paths, queries, headers, bodies) -> two workers, one with admin.token"
    paths = [
        "/livez",
        "/readyz",
        "/metrics",
        "/status",
        "/status/*",
        "/*",
        "*",
        "/",
        "//metrics",
        "/metrics/../status",
        "http://127.0.0.1/status",
    ]
    queries = ["format", "x", ""]

    def start(self) -> None:
        self.start_broker()
        self.ports = [unused_port(), unused_port()]
        for number, port in enumerate(self.ports):
            self.watch(
                f"worker-{number}",
                ["worker"],
                self.env(
                    admin__port=port,
                    kafka__groupId=f"{self.topics.group}-{number}",
                    **({"admin__token": TOKEN} if number else {}),
                ),
            )
        self.wait(
            lambda: all(self.get(port, "/readyz", 0.5) == 200 for port in self.ports),
            "partitions of the workers",
            limit=30,
        )

    def probe(self) -> None:
        for port in self.ports:
            self.wait(lambda: self.get(port, "/livez", 2) == 200, "answer of /livez")
        self.wait(
            lambda: self.get(self.ports[0], "/status", 2) == 200 and self.get(self.ports[0], "/metrics", 2) == 200,
            "answer of /status or /metrics",
        )


class ConsoleHTTP(HTTPSurface):
    name = "console-http"
    about = "requests to the console (paths, queries, headers, cookies, bodies) -> two consoles, one with console.token"
    paths = [
        "/",
        "/traffic",
        "/login",
        "/livez",
        "/api/config",
        "/assets/*",
        "/assets/map.js",
        "/api/traffic/events",
        "/api/traffic/events?after=*",
        "/api/traffic/events?after=*",
        "/api/traffic/outcomes/*",
        "/api/traffic/outcomes/*",
        "/api/sessions/*/events",
        "/api/sessions/*/requests",
        "/api/dead-letters?limit=*",
        "/api/dead-letters?limit=*",
        "/api/pictures?url=*",
        "/api/pictures?url=http://imgfp.hotp.jp:*/x.jpg",
        "/api/*",
        "/*",
        "*",
    ]
    queries = ["after", "limit", "url", "width", "height", "size", "w", "token", ""]

    def __init__(self, *args):
        super().__init__(*args)
        requests = examples("request") + [dict(example)["value"] for example in examples("invalid/request")]
        redrive = parse('{"confirm":"abc","letters":[{"partition":0,"offset":1},{"partition":3,"offset":0}]}')
        self.bodies = (
            [("/api/sessions/s1/requests", seed) for seed in requests]
            + [("/api/login", parse(f'{{"token":"{TOKEN}"}}'))] * 8
            + [("/api/dead-letters/redrive", redrive)] * 16
        )

    def start(self) -> None:
        self.start_broker()
        self.ports = []
        for number in range(2):
            more = {"console__token": TOKEN} if number else {}
            name = f"console-{number}"
            console = self.watch(
                name,
                ["console"],
                self.env(console__port=0, console__workers="http://127.0.0.1:9", **more),
                stdout=subprocess.PIPE,
            )
            self.ports.append(int(re.search(rb"http://[^ ]*:(\d+)", console.stdout.readline()).group(1)))
            LineReader(console.stdout)
        login = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[1]}/api/login",
            json.dumps({"token": TOKEN}).encode(),
            {"Content-Type": "application/json"},
        )
        self.cookie = urllib.request.urlopen(login, timeout=10).headers["Set-Cookie"].partition("=")[0].encode()
        for number in range(20):
            self.produce(
                self.topics.dead,
                b"no request",
                None,
                [
                    ("source-topic", b"t"),
                    ("source-partition", b"0"),
                    ("source-offset", str(number).encode()),
                    ("dead-letter-reason", b"invalid-request"),
                ],
            )
            self.produce(
                self.topics.results, b'{"requestId":"r","operation":"search","provider":"hotpepper","places":[]}'
            )
        self.producer.flush(10)

    def probe(self) -> None:
        for port in self.ports:
            self.wait(lambda: self.get(port, "/login", 2) == 200, "answer of /login")
        self.wait(
            lambda: (
                self.get(self.ports[0], "/api/config", 2) == 200
                and self.get(self.ports[0], "/api/dead-letters?limit=5", 2) == 200
            ),
            "answer of /api/config or /api/dead-letters",
        )
