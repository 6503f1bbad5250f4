"""Surfaces that are answers to calls of ours: those of providers, of a trace collector and of a token server."""

import asyncio
import gzip
import random
import re
import threading
import time
from collections import deque

from harness.brokers import newest_library
from harness.traffic import request
from harness.workers import environment, learn_variables

from .engine import Hung, Surface, unused_port
from .kafka import PARTITIONS, ROOT, KafkaSurface
from .mutation import Mutator, parse

CALL = re.compile(rb"k(\d+)z")
REASONS = {200: "OK", 429: "Too Many Requests", 503: "Service Unavailable"}


def plain_answer(body: bytes, status: int = 200, headers: str = "") -> bytes:
    return (
        f"HTTP/1.1 {status} {REASONS.get(status, 'Some')}\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


class HostileServer:
    """An HTTP server that sends what `answer` returns for a call, byte for byte.

    `answer` gets the head and the body of the call, on the server's own thread. It returns bytes, whether the
    connection ends after them, and a number of seconds to wait before.
    """

    def __init__(self, answer):
        self.answer = answer
        self.loop = asyncio.new_event_loop()
        self.calls = 0
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22, backlog=1024)
        )
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                if b"100-continue" in head:
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await reader.readexactly(int(length.group(1))) if length else b""
                self.calls += 1
                answer, ends, pause = self.answer(head, body)
                if pause:
                    await asyncio.sleep(pause)
                writer.write(answer)
                await writer.drain()
                if ends:
                    break
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            writer.close()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)


STATUSES = [
    200,
    200,
    200,
    200,
    201,
    204,
    206,
    301,
    302,
    304,
    400,
    401,
    403,
    404,
    408,
    410,
    418,
    499,
    500,
    501,
    502,
    504,
    599,
    600,
    999,
    100,
    101,
    0,
    99,
    1000,
]


def head(mutate: Mutator, status: int, body: bytes) -> tuple[bytes, bytes]:
    """Returns a status line with headers that may be wrong, and the body in the form that they say it has."""
    line = f"HTTP/1.1 {status} {REASONS.get(status, 'Some Reason')}"
    if mutate.often(0.05):
        line = mutate.pick(
            (
                f"HTTP/1.0 {status}",
                f"HTTP/1.1 {mutate.number()} OK",
                f"HTTP/2 {status}",
                "HTTP/1.1",
                "ICY 200 OK",
                "HTTP/1.1 200 " + "x" * 5000,
                mutate.text(),
                f"HTTP/9.9 {status} OK",
            )
        )
    headers, kind = [], mutate.chance.random()
    if kind < 0.08:
        headers.append("Transfer-Encoding: chunked")
        size = mutate.pick(
            (
                f"{len(body):x}",
                mutate.number(),
                f"{len(body) + 1:x}",
                "ffffffffffffffff",
                f"{len(body):x};x=y",
                "0" * 300 + f"{len(body):x}",
            )
        )
        body = f"{size}\r\n".encode("utf-8", "surrogatepass") + body + b"\r\n0\r\n\r\n"
    elif kind < 0.12:
        body = gzip.compress(body if mutate.often(0.8) else b" " * 3_000_000, 1, mtime=0)
        headers += [
            "Content-Encoding: " + mutate.pick(("gzip", "gzip", "deflate", "br", "gzip, gzip")),
            f"Content-Length: {len(body)}",
        ]
    elif kind < 0.2:
        headers.append(f"Content-Length: {mutate.pick((mutate.number(), str(len(body) - 1), str(len(body) + 1)))}")
    elif kind < 0.95:
        headers.append(f"Content-Length: {len(body)}")
    headers.insert(
        mutate.chance.randrange(len(headers) + 1),
        "Content-Type: "
        + mutate.pick(("application/json", "application/json; charset=UTF-8", "text/html", mutate.text())),
    )
    if mutate.often(0.1):
        name = mutate.pick(("Location", "Date", "X-" + "y" * 300, "Set-Cookie", "Age", "Connection", ""))
        headers.append(f"{name}: {mutate.pick((mutate.text(), mutate.number(), 'x' * 20_000))}")
    if mutate.often(0.02):
        headers += [f"X-{i}: {i}" for i in range(mutate.pick((100, 3000)))]
    return "\r\n".join([line, *headers, "", ""]).encode("utf-8", "surrogatepass"), body


class ProviderAnswers(KafkaSurface):
    """An answer after which a provider is left alone for a while must not hide the next ones from the worker. So such
    answers come last in a batch, all at the same time, and the worker begins anew after them."""

    name = "providers"
    about = (
        "status lines, headers and bodies of the answers of all three providers, for searches, details and "
        "photos -> worker"
    )
    batch = 2000
    megabytes = 500

    settings = {
        f"providers.{p}.{name}": value
        for p in ("hotpepper", "googlePlaces", "googlePlacesLegacy")
        for name, value in {
            "maxAttempts": 1,
            "breaker.enabled": False,
            "singleFlight": False,
            "adaptiveConcurrency": False,
        }.items()
    } | {"worker.concurrency": 256}
    FOLDERS = {
        "hotpepper": "hotpepper",
        "google-places": "google-places-new",
        "google-places-legacy": "google-places-legacy",
    }
    QUOTA = re.compile(r"429|over-|quota|3000|403|401|1000|2000|denied")

    def __init__(self, *args):
        super().__init__(*args)
        fixtures = ROOT / "Tests" / "Domain" / "PlaceProvidersTests" / "Fixtures"
        self.bodies: dict[str, list] = {}
        self.refusals: dict[str, list] = {}
        for provider, folder in self.FOLDERS.items():
            for file in sorted((fixtures / folder).iterdir()):
                into = self.refusals if self.QUOTA.search(file.name) else self.bodies
                into.setdefault(provider, []).append(
                    (file.name, parse(file.read_text()) if file.suffix == ".json" else file.read_bytes())
                )
        self.server = None
        self.call = 0
        self.generation = 0
        self.requests_received = 0

    def received(self) -> int:
        return self.requests_received

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        provider = mutate.pick(("hotpepper", "google-places", "google-places-legacy"))
        operation = mutate.pick(("search", "search", "search", "details", "photo"))
        shuts = mutate.often(0.05)
        status = mutate.pick((429, 429, 503, 403, 401, 200)) if shuts else mutate.pick(STATUSES)
        files = self.refusals[provider] if shuts else self.bodies[provider]
        if not shuts and mutate.often(0.7):  # What fits the operation gets further.
            status = 200
            words = {
                "search": ("search", "nearby", "gourmet", "partly"),
                "details": ("details", "gourmet"),
                "photo": ("photo", "details", "gourmet"),
            }[operation]
            files = [pair for pair in files if any(word in pair[0] for word in words)] or files
        seed = mutate.pick(files)[1]
        body = mutate.spoil(seed) if isinstance(seed, bytes) else mutate.json(seed)
        if mutate.often(0.02):
            body = mutate.pick(
                (b"", b"[" * 100_000, b'{"results":' * 20_000, b" " * 2_100_000, mutate.some_bytes(), b"1" * 100_000)
            )
        top, body = head(mutate, status, body)
        if shuts and mutate.often(0.8):
            top = top[
                :-2
            ] + f"Retry-After: {mutate.pick((mutate.number(), mutate.text(), mutate.number()))}\r\n\r\n".encode(
                "utf-8", "surrogatepass"
            )
        answer = top + body
        if mutate.often(0.03):
            answer = mutate.spoil(answer) if mutate.often(0.5) else answer[: chance.randrange(len(answer) + 1)]
        return {
            "provider": provider,
            "operation": operation,
            "second": operation == "photo" and mutate.often(0.6),
            "shuts": shuts,
            "answer": answer,
        }

    def start(self) -> None:
        self.server = HostileServer(self.answer)
        self.answers: dict[int, dict] = {}
        self.served: set[int] = set()
        self.start_broker()
        self.consumer = self.read([self.topics.results, self.topics.errors])
        self.begin_worker()

    def begin_worker(self) -> None:
        if worker := self.watched.pop("worker", None):
            worker.kill()
            worker.wait()
        self.generation += 1
        url, group = self.server.url, f"{self.topics.group}-{self.generation}"
        # A topic of its own, because a new group that begins with the newest would miss what is sent at this moment.
        self.requests = f"{self.topics.requests}-{self.generation}"
        self.broker.create_topics({self.requests: PARTITIONS})
        self.start_worker(
            kafka__groupId=group,
            topics__requests=self.requests,
            hotpepper__baseURL=url,
            googlePlaces__baseURL=url,
            googlePlacesLegacy__baseURL=url,
        )
        self.is_shut = False

    def stop(self) -> None:
        super().stop()
        if self.server:
            self.server.close()
        self.server = None

    PHOTO = {
        "google-places": '{"name":"places/k%dz","id":"k%dz","photos":[{"name":"places/k%dz/photos/k%dz","widthPx":100,"heightPx":100}]}',  # noqa: E501
        "google-places-legacy": '{"status":"OK","html_attributions":[],"result":{"place_id":"k%dz","name":"k%dz","photos":[{"photo_reference":"k%dz","height":100,"width":100,"html_attributions":["k%dz"]}]}}',  # noqa: E501
    }

    def answer(self, head: bytes, body: bytes) -> tuple[bytes, bool, float]:
        self.requests_received += 1
        found = CALL.search(head) or CALL.search(body)
        made = self.answers.get(int(found.group(1))) if found else None
        if not made:
            return plain_answer(b"{}"), False, 0
        call = int(found.group(1))
        path = head.split(b" ", 2)[1]
        if made["second"] and made["provider"] in self.PHOTO and b"/media" not in path and b"/place/photo" not in path:
            text = self.PHOTO[made["provider"]]
            return plain_answer((text % ((call,) * text.count("%d"))).encode()), False, 0
        self.served.add(call)
        return made["answer"], True, 0.3 if made["shuts"] else 0

    def feed(self, inputs: list[dict]) -> None:
        for shuts in (False, True):
            waiting = [made for made in inputs if made["shuts"] == shuts]
            for _ in range(4):  # What found its provider shut is asked again of a new worker.
                for at in range(0, len(waiting), 200):
                    self.ask(waiting[at : at + 200])
                waiting = [made for made in waiting if made.pop("call") not in self.served]
                if not waiting:
                    break
                self.begin_worker()
            self.is_shut = self.is_shut or (shuts and any(made["shuts"] for made in inputs))
            for made in inputs:
                made.pop("call", None)
        if self.is_shut:
            self.check()
            self.begin_worker()

    def ask(self, inputs: list[dict]) -> None:
        self.delivered = []
        self.answers = {}
        for number, made in enumerate(inputs):
            self.call += 1
            made["call"] = self.call
            self.answers[self.call] = made
            mark = f"k{self.call}z"
            members = {"keyword": mark} if made["operation"] == "search" else {"placeId": mark}
            self.produce(
                self.requests,
                request(mark, self.call, provider=made["provider"], operation=made["operation"], **members),
                mark.encode(),
                None,
                0,
                self.call % PARTITIONS,
                number,
            )
        self.producer.flush(20)
        due = {(partition, offset): inputs[number] for number, partition, offset in self.delivered}
        while due:
            before = len(due)
            self.wait(
                lambda: (self.outcomes(due), len(due) < before)[1],
                "outcome of a request within its deadline of 1 s",
                lambda: list(due.values()),
                limit=3.0,
            )

    def probe(self) -> None:
        self.wait(
            lambda: (
                self.get(self.admin, "/livez") == 200
                and self.get(self.admin, "/metrics") == 200
                and self.get(self.admin, "/status") == 200
            ),
            "answer of /livez, /metrics or /status",
        )
        self.compare_calls()
        good = {
            "provider": "hotpepper",
            "operation": "search",
            "second": False,
            "shuts": False,
            "answer": plain_answer(
                b'{"results":{"api_version":"1.26","results_available":0,"results_returned":"0","results_start":1,"shop":[]}}'
            ),
        }
        self.ask([good])


class Collector(KafkaSurface):
    """A worker exports its spans once a second. So there are many workers, each of which reads all requests, and an
    answer carries several inputs: up to one status line with headers, and many pieces of a body."""

    name = "collector"
    about = "answers of the trace collector (status, headers, body) -> 16 workers with tracing.endpoint"
    batch = 1000
    megabytes = 300
    restarts = 10
    WORKERS = 16
    PIECES = 16
    SILENT_S = 40

    def __init__(self, *args):
        super().__init__(*args)
        self.server = None
        self.generation = 0

    def make(self, chance: random.Random, number: int) -> dict:
        mutate = Mutator(chance)
        kind = chance.random()
        if kind < 0.94:
            return {"piece": mutate.some_bytes()}
        waits = kind > 0.99
        status = (
            mutate.pick((429, 502, 503, 504))
            if waits
            else mutate.pick((200, 200, 202, 204, 299, 300, 400, 413, 500, 0, 999))
        )
        top, _ = head(mutate, status, b"")
        top = b"".join(
            line
            for line in top.splitlines(True)
            if not line.lower().startswith((b"content-length", b"transfer-enc", b"content-enc"))
        )
        if mutate.often(0.8 if waits else 0.3):
            top = top[
                :-2
            ] + f"Retry-After: {mutate.pick((mutate.number(), mutate.number(), mutate.text()))}\r\n\r\n".encode(
                "utf-8", "surrogatepass"
            )
        return {"head": top, "waits": waits}

    def start(self) -> None:
        self.server = HostileServer(self.answer)
        self.queue: deque = deque()
        self.parked: set[str] = set()
        self.last: dict[str, float] = {}
        self.sent = 0
        self.start_broker()
        self.names: dict[str, int] = {}
        for _ in range(self.WORKERS):
            self.begin_worker()
        for name, port in self.names.items():
            self.wait(lambda: self.get(port, "/readyz", 0.5) == 200, f"partitions of {name}", limit=60)

    def begin_worker(self) -> None:
        self.generation += 1
        name = f"worker-{self.generation}"
        self.names[name] = unused_port()
        group = f"{self.topics.group}-{self.generation}"
        # The group skips what former workers were asked.
        self.tool(["offsets", "reset", "--to", "latest", "--group", group, "--yes", "--force"])
        env = self.env(
            admin__port=self.names[name],
            kafka__groupId=group,
            tracing__endpoint=self.server.url,
            tracing__headers=f"x-worker={name}",
            hotpepper__apiKey="fuzz",
        )
        env["OTEL_EXPORTER_OTLP_TIMEOUT"] = "1000"
        self.last[name] = time.monotonic()
        self.watch(name, ["worker"], env)

    def stop(self) -> None:
        super().stop()
        if self.server:
            self.server.close()
        self.server = None

    def answer(self, head: bytes, body: bytes) -> tuple[bytes, bool, float]:
        name = re.search(rb"(?i)x-worker: *(\S+)", head).group(1).decode()
        self.last[name] = time.monotonic()
        if not self.queue:
            return plain_answer(b""), False, 0
        answer, waits = self.queue.popleft()
        if waits:
            self.parked.add(name)
        return answer, True, 0

    def feed(self, inputs: list[dict]) -> None:
        pieces = [made["piece"] for made in inputs if "piece" in made]
        heads = sorted((made for made in inputs if "head" in made), key=lambda made: made["waits"])
        answers = []
        while pieces or heads:
            body, pieces = b"".join(pieces[: self.PIECES]), pieces[self.PIECES :]
            if heads and (heads[0]["waits"] is False or not pieces):
                made = heads.pop(0)
                answers.append((made["head"] + body, made["waits"]))
            else:
                answers.append((plain_answer(body), False))
        self.queue.extend(answers)
        self.work(lambda: not self.queue)

    def work(self, is_done) -> None:
        """Has the workers make spans until something holds, which each of them must go on exporting."""
        began = moved = time.monotonic()
        left = len(self.queue)
        patience_s = (
            6.0  # An export begins each second and may take one. One that failed is repeated, four times, ever later.
        )
        while not is_done():
            for _ in range(2):
                self.sent += 1
                self.produce(self.topics.requests, b"no request", None, None, 0, self.sent % PARTITIONS)
            self.producer.flush(5)
            time.sleep(0.2)
            self.check()
            if len(self.queue) < left:
                left, moved = len(self.queue), time.monotonic()
            if len(self.parked) > self.WORKERS // 2:
                self.replace()
                moved = time.monotonic()
            now = time.monotonic()
            if now - moved > patience_s and now - began > patience_s:
                raise Hung(f"no worker exports any more; {len(self.queue)} answers are left")
            if silent := [
                name for name in self.names if name not in self.parked and now - self.last[name] > self.SILENT_S
            ]:
                raise Hung(f"{silent[0]} has not exported for {self.SILENT_S} s")

    def replace(self) -> None:
        """Puts new workers in the places of those that were told to wait."""
        for name in list(self.parked):
            self.watched.pop(name).kill()
            self.names.pop(name)
            self.parked.discard(name)  # One by one, because the server adds others meanwhile.
            self.begin_worker()
        for name, port in self.names.items():
            self.wait(lambda: self.get(port, "/readyz", 0.5) == 200, f"partitions of {name}", limit=60)

    def probe(self) -> None:
        since = time.monotonic()
        waiting = [name for name in self.names if name not in self.parked]
        self.work(lambda: sum(self.last[name] > since for name in waiting) * 2 >= len(waiting))
        for name, port in self.names.items():
            self.wait(
                lambda: self.get(port, "/livez") == 200 and self.get(port, "/metrics") == 200, f"answer of {name}"
            )


class Tokens(Surface):
    """Each consumer and each producer of a worker asks the token server once as it begins, and a worker of 64 loops has
    129 of them. So a process takes that many inputs."""

    name = "tokens"
    about = "answers of an OpenID token server (kafka.security.oidc.*) -> workers of 64 loops, on the newest librdkafka"
    batch = 129
    megabytes = 500
    restarts = 40

    def __init__(self, *args):
        super().__init__(*args)
        self.server = None
        self.seeds = [
            parse('{"access_token":"$JWT","token_type":"Bearer","expires_in":300,"scope":"kafka"}'),
            parse('{"error":"invalid_client","error_description":"no such client"}'),
        ]
        self.claims = parse(
            '{"exp":2000000000,"iat":1700000000,"sub":"worker","iss":"https://id.example","aud":["kafka"]}'
        )

    def make(self, chance: random.Random, number: int) -> dict:
        import base64

        mutate = Mutator(chance)
        encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")  # noqa: E731
        token = b".".join(
            [
                encode(b'{"alg":"RS256","typ":"JWT"}'),
                encode(mutate.json(self.claims)),
                encode(mutate.chance.randbytes(32)),
            ]
        )
        if mutate.often(0.15):
            token = mutate.spoil(token).replace(b'"', b"")
        body = mutate.json(self.seeds[0 if mutate.often(0.9) else 1]).replace(b"$JWT", token)
        status = 200 if mutate.often(0.8) else mutate.pick((*STATUSES, 429, 503))
        top, body = head(mutate, status, body)
        answer = top + body
        return {"answer": mutate.spoil(answer) if mutate.often(0.03) else answer}

    def start(self) -> None:
        self.server = HostileServer(self.answer)
        self.queue: deque = deque()
        self.folder_of_library = str(newest_library())
        self.done = False

    def stop(self) -> None:
        super().stop()
        if self.server:
            self.server.close()
        self.server = None

    def answer(self, head: bytes, body: bytes) -> tuple[bytes, bool, float]:
        return (
            (self.queue.popleft(), True, 0)
            if self.queue
            else (plain_answer(b'{"error":"temporarily_unavailable"}', 503), True, 0)
        )

    def feed(self, inputs: list[dict]) -> None:
        self.queue.extend(made["answer"] for made in inputs)
        self.admin = unused_port()
        learn_variables(self.locsearch)
        env = environment(
            {
                "kafka.bootstrapServers": "127.0.0.1:9",
                "kafka.security.protocol": "sasl_plaintext",
                "kafka.security.sasl.mechanism": "OAUTHBEARER",
                "kafka.security.oidc.tokenURL": self.server.url + "/token",
                "kafka.security.oidc.clientId": "fuzz",
                "kafka.security.oidc.clientSecret": "no-real-secret",
                "worker.loops": min(64, max(1, len(inputs) // 2)),
                "hotpepper.apiKey": "experiment",
                "hotpepper.baseURL": "http://127.0.0.1:9",
                "admin.port": self.admin,
                "log.level": "error",
            }
        )
        worker = self.watch("worker", ["worker"], env | {"LD_LIBRARY_PATH": self.folder_of_library})
        self.wait(lambda: not self.queue, "call for a token", limit=10)
        self.wait(
            lambda: (
                KafkaSurface.get(self, self.admin, "/livez") == 200  # type: ignore[arg-type]
                and KafkaSurface.get(self, self.admin, "/metrics") == 200  # type: ignore[arg-type]
            ),
            "answer of /livez",
            limit=10,
        )
        self.check()
        self.watched.clear()
        worker.kill()
        worker.wait()
        self.processes.all.clear()
