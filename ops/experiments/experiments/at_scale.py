"""Large numbers: groups on one fleet topic, budget accounts, dead letters, clients, partitions, and long expiries.

Each experiment bounds time, memory, threads, and the longest pass of an event loop of the processes that it looks at.
"""

import json
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from confluent_kafka import Producer
from harness.lab import Experiment, Lab, run_command
from harness.processes import cpu_seconds, first_line, resident_bytes, thread_count, wait_until
from harness.traffic import request
from harness.workers import environment

# Far above what two shared cores need for a pass, and below what makes a liveness probe fail. What these experiments
# look for takes longer by orders of magnitude.
LONGEST_PASS_S = 3.0
THREADS = 64
CLIENTS = 200


def judge_process(lab: Lab, pid: int, what: str, megabytes: float) -> None:
    """Checks memory and threads of a process at this moment."""
    size, threads = resident_bytes(pid) / 1e6, thread_count(pid)
    lab.figure(f"memory and threads {what}", f"{size:.0f} of at most {megabytes:.0f} MB, {threads} of {THREADS}")
    lab.check(0 < size <= megabytes, f"{size:.0f} MB {what}, and {megabytes:.0f} may be used")
    lab.check(threads <= THREADS, f"{threads} threads {what}, and {THREADS} may be there")


def judge_workers(lab: Lab, what: str, megabytes: float) -> None:
    """Checks memory, threads and loops of each worker."""
    for worker in lab.fleet.alive:
        judge_process(lab, worker.process.pid, what, megabytes)
        longest = max(v for k, v in worker.metrics().items() if k.startswith("locsearch_loop_longest_pass_seconds"))
        lab.figure(f"longest pass of a loop {what}", f"{longest * 1000:.0f} ms")
        lab.check(longest <= LONGEST_PASS_S, f"a loop ran for {longest:.1f} s without looking at its sockets {what}")


def timed(lab: Lab, what: str, within: float, action):
    """Returns what `action` returns, and checks how long it took."""
    began = time.monotonic()
    value = action()
    took = time.monotonic() - began
    lab.figure(what, f"{took:.2f} s of at most {within:.0f}")
    lab.check(took <= within, f"{what}: {took:.1f} s, and {within:.0f} s may pass")
    return value


# Groups on one fleet topic, and accounts of budgets


BUDGET = {"providers.hotpepper.callsPerDay": 100_000, "providers.hotpepper.dayBegins": "UTC"}


def fleet_messages(group: int, number: int):
    """Yields what a worker of another group writes: its demand for one limit, and its entry for one budget."""
    sender, fleet = f"other-{group}", f"group-{group}/requests"
    limit = {"demand": {"interactive": 0.5, "total": 0.5}, "acknowledged": {sender: number}}
    yield {
        "fleet": fleet,
        "shares": {"sender": sender, "number": number, "owned": 4, "of": 4, "limits": {"hotpepper": limit}},
    }
    entry = {
        "account": "hotpepper",
        "period": datetime.now(UTC).date().isoformat(),
        "limit": 100,
        "take": 3,
        "giveBack": 1,
        "made": {"search/hotpepper": 2},
        "warning": 80,
    }
    yield {"fleet": fleet, "budget": {"sender": sender, "number": number, "entries": [entry]}}


def write_messages(lab: Lab, groups: int, until) -> int:
    """Writes messages of so many groups, again and again until `until()` is true, and at least once."""
    producer = Producer({"bootstrap.servers": lab.broker.bootstrap, "linger.ms": 5, "log_level": 2})
    number = 0
    while number == 0 or not until():
        number += 1
        for group in range(groups):
            for message in fleet_messages(group, number):
                producer.produce(lab.topics.fleet, json.dumps(message, separators=(",", ":")).encode(), partition=0)
            if group % 50 == 49:
                producer.poll(0)
                # As many messages a second as so many groups with one worker each write.
                time.sleep(50 / (2.5 * groups))
        producer.flush(20)
    return number * groups


def fleet_topic(lab: Lab) -> None:
    """A worker shares its fleet topic with the workers of very many other groups, which go on writing."""
    groups, requests = lab.size((1_000, 3_000), (1_000, 30_000))
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=8)
    lab.provider.latency(2)
    write_messages(lab, groups, lambda: True)
    settings = {"providers.hotpepper.requestsPerSecond": 2_000, **BUDGET}
    timed(lab, "until the worker is ready", 30, lambda: lab.workers(1, **with_underscores(settings)))
    worker = lab.fleet.workers[0]

    done, written = False, []
    others = threading.Thread(target=lambda: written.append(write_messages(lab, groups, lambda: done)))
    others.start()
    try:
        used = cpu_seconds(worker.process.pid)
        timed(lab, f"{requests} requests", 60, lambda: (lab.sender.many(requests, rate=500), lab.settle(60)))
        lab.figure("CPU seconds of the worker", f"{cpu_seconds(worker.process.pid) - used:.1f}")
        judge_workers(lab, f"beside {groups} groups", 120)
    finally:
        done = True
        others.join()
    lab.figure("messages of others", f"{sum(written) * 2}")

    stop_all_calls(lab, settings)
    lab.end()


def every_budget() -> dict[str, str]:
    """Returns settings with a budget for each SKU and for all of them: per day and month, in calls and in money."""
    skus = json.loads((Path(__file__).parents[3] / "ops" / "prices.json").read_text())["skus"]
    legacy = [sku for sku in skus if sku.startswith("legacy-")]
    groups = {"googlePlaces": [sku for sku in skus if sku not in legacy], "googlePlacesLegacy": legacy, "hotpepper": []}
    budgets = {}
    for provider, scopes in groups.items():
        amounts = ["1000000"] if provider == "hotpepper" else ["1000000", "1000000 USD"]
        texts = [f"{s}: {a}/{p}" for s in ["all", *scopes] for a in amounts for p in ("day", "month")]
        budgets[f"providers.{provider}.budgets"] = "; ".join(texts)
    return budgets


def account_messages(fleet: str, sender: str, number: int, accounts: int):
    """Yields what a worker writes that uses so many accounts, of which the receiving workers may have none."""
    entry = {"period": datetime.now(UTC).date().isoformat(), "limit": 1000, "take": 1, "giveBack": 0, "warning": 80}
    entries = [{"account": f"hotpepper/{i}", "made": {"search/hotpepper": 1}, **entry} for i in range(accounts)]
    yield {"fleet": fleet, "budget": {"sender": sender, "number": number, "entries": entries}}


def write_accounts(lab: Lab, until) -> int:
    """Writes messages of the workers' own fleet and of 20 others with 250 accounts each, until `until()` is true."""
    producer = Producer({"bootstrap.servers": lab.broker.bootstrap, "linger.ms": 5, "log_level": 2})
    own = f"{lab.topics.group}/{lab.topics.requests}"
    number = 0
    while number == 0 or not until():
        number += 1
        for group in range(21):
            fleet, accounts = (f"group-{group}/requests", 250) if group else (own, 150)
            for message in account_messages(fleet, f"other-{group}", number, accounts):
                producer.produce(lab.topics.fleet, json.dumps(message, separators=(",", ":")).encode(), partition=0)
            # The mock broker drops all but the newest 5 MB of a partition: half a minute of these, at 25 KB each.
            time.sleep(0.15)
        producer.flush(20)
    return number * 21


def budgets(lab: Lab) -> None:
    """Workers with an account for each SKU, period and unit share their fleet topic with hundreds of other accounts."""
    count, requests = lab.size((3, 3_000), (8, 30_000))
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=16)
    lab.provider.latency(2)
    write_accounts(lab, lambda: True)
    settings = every_budget()
    timed(lab, f"until {count} workers are ready", 60, lambda: lab.workers(count, **with_underscores(settings)))

    done, written = False, []
    others = threading.Thread(target=lambda: written.append(write_accounts(lab, lambda: done)))
    others.start()
    try:
        timed(
            lab,
            f"{requests} requests",
            90,
            lambda: (lab.sender.many(requests, rate=400, provider="google-places"), lab.settle(60)),
        )
        judge_workers(lab, "with hundreds of accounts", 150)
        lines = timed(lab, "`budget`", 20, lambda: shown_budgets(lab, settings))
    finally:
        done = True
        others.join()
    own = {line["account"]: line for line in lines if not line["account"].startswith("hotpepper/")}
    lab.figure("accounts and messages of others", f"{len(own)}, {sum(written)}")
    lab.check(len(own) > 70, f"only {len(own)} accounts of these settings are shown")
    for account in ("google-places", "google-places/month"):
        used, calls = own.get(account, {}).get("used"), lab.provider.calls()
        lab.check(used == calls, f"{account} counts {used} calls, and the provider {calls}")
    stop_all_calls(lab, settings)
    lab.end()


def shown_budgets(lab: Lab, settings: dict) -> list[dict]:
    """Returns what `locsearch budget --json` prints once all calls are reported, which takes about a second."""
    show, env = [lab.options.locsearch, "budget", "--json"], tool_environment(lab, settings)
    shown: list[dict] = []

    def is_complete() -> bool:
        done = run_command(show, env, 20)
        shown[:] = [json.loads(line) for line in done.stdout.splitlines()]
        return any(line["account"] == "google-places" and line["used"] >= lab.provider.calls() for line in shown)

    lab.until(is_complete, 15, "all calls to be reported", 0.5)
    return shown


def stop_all_calls(lab: Lab, settings: dict) -> None:
    """The emergency stop takes effect, however many accounts others have."""
    env = tool_environment(lab, settings)
    stop = [lab.options.locsearch, "budget", "set", "hotpepper", "0", "--yes"]
    told = timed(lab, "`budget set hotpepper 0`", 20, lambda: run_command(stop, env, 40))
    lab.check(told.returncode == 0, f"`budget set` ended with {told.returncode}: {told.stderr.strip()[:200]}")
    before, refused_before = lab.provider.calls(), lab.counts().get("rate-limited", 0)
    lab.sender.many(50, prefix="stopped")
    lab.settle(30)
    lab.check(lab.provider.calls() == before, f"{lab.provider.calls() - before} calls after the emergency stop")
    refused = lab.counts().get("rate-limited", 0) - refused_before
    lab.check(refused == 50, f"{refused} of 50 requests were refused after the emergency stop")


def tool_environment(lab: Lab, settings: dict) -> dict[str, str]:
    """Returns the environment of commands that use the fleet topic."""
    return {
        **environment(settings),
        "KAFKA_BOOTSTRAP_SERVERS": lab.broker.bootstrap,
        "KAFKA_GROUP_ID": lab.topics.group,
        "TOPICS_REQUESTS": lab.topics.requests,
        "TOPICS_FLEET": lab.topics.fleet,
        "HOTPEPPER_API_KEY": "experiment",
    }


def with_underscores(settings: dict) -> dict:
    return {name.replace(".", "__"): value for name, value in settings.items()}


# Dead letters, and the clients of a console


def begin_with_letters(lab: Lab, letters: int) -> dict[str, str]:
    """Has a worker write so many dead letters. Returns the environment of the tools."""
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=8, dead=24, errors=24)
    lab.workers(1, worker__concurrency=512)
    for i in range(letters):
        lab.sender.send(None, b'{"broken %d":' % i, f"k{i}", bad=True)
    lab.settle(120)
    return {
        "KAFKA_BOOTSTRAP_SERVERS": lab.broker.bootstrap,
        "KAFKA_GROUP_ID": lab.topics.group,
        "TOPICS_REQUESTS": lab.topics.requests,
        "TOPICS_RESULTS": lab.topics.results,
        "TOPICS_ERRORS": lab.topics.errors,
        "TOPICS_DEAD_LETTERS": lab.topics.dead,
        "TOPICS_FLEET": lab.topics.fleet,
    }


def start_console(lab: Lab, env: dict[str, str]) -> tuple[subprocess.Popen, str]:
    console = lab.processes.start(
        "console", [lab.options.locsearch, "console", "--console-port", "0"], env, stdout=subprocess.PIPE, text=True
    )
    return console, first_line(console).removeprefix("console ").strip().rstrip("/")


def ask(url: str, within: float = 30, body: bytes | None = None) -> tuple[int, bytes]:
    """Returns status and body; 0 when no answer came in time."""
    call = urllib.request.Request(url, body, {"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(call, timeout=within) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()
    except OSError:
        return 0, b""


def dead_letters(lab: Lab) -> None:
    """One of very many dead letters is shown and sent back, by the command and in the console."""
    letters = lab.size(20_000, 100_000)
    env = begin_with_letters(lab, letters)
    # What is sent back is not answered, so that the history holds what was sent here alone.
    lab.end()
    console, url = start_console(lab, env)
    code, text = timed(lab, "the console's list", 15, lambda: ask(f"{url}/api/dead-letters?limit=50"))
    lab.check(code == 200, f"the console answers {code} to the list of letters: {text[:200]!r}")
    confirm = json.loads(text)["confirm"] if code == 200 else ""

    code, text = timed(lab, "one letter in the console", 10, lambda: ask(f"{url}/api/dead-letters/3/7"))
    lab.check(code == 200, f"the console answers {code} for one letter: {text[:200]!r}")
    one = json.dumps({"confirm": confirm, "letters": [{"partition": 3, "offset": 7}]}).encode()
    code, text = timed(
        lab, "one letter sent back by the console", 10, lambda: ask(f"{url}/api/dead-letters/redrive", body=one)
    )
    lab.check(code == 200, f"the console answers {code} to a redrive: {text[:200]!r}")
    judge_process(lab, console.pid, f"of a console with {letters} letters", 150)

    which = ["--partition", "4", "--from-offset", "5", "--to-offset", "6"]
    redrive = [lab.options.locsearch, "dead-letters", "redrive", *which, "--yes", "--wait", "0s"]
    done = timed(lab, "`dead-letters redrive` of one", 15, lambda: run_command(redrive, env, 60))
    lab.check(done.returncode == 0, f"redrive ended with {done.returncode}: {done.stderr.strip()[:200]}")


# The routes that ask Kafka, those that a page needs, and those of the admin server.
CONSOLE_ROUTES = [
    "/api/controls",
    "/api/dead-letters?limit=20",
    "/api/dead-letters/0/0",
    "/api/requests?id=r7",
    "/api/config",
    "/metrics",
    "/livez",
    "/",
]
ADMIN_ROUTES = ["/livez", "/readyz", "/status", "/metrics"]


def http_routes(lab: Lab) -> None:
    """Very many clients ask each route at once. Each gets an answer, or is told to come back; nothing piles up."""
    env = begin_with_letters(lab, lab.size(500, 5_000))
    lab.sender.many(100)
    lab.settle(30)
    console, url = start_console(lab, env)
    worker = lab.fleet.workers[0]
    wait_until(lambda: ask(f"{url}/livez")[0] == 200, 20, "the console to answer")
    at_rest = thread_count(console.pid)

    targets = [(console.pid, url, path) for path in CONSOLE_ROUTES]
    targets += [(worker.process.pid, f"http://127.0.0.1:{worker.admin_port}", path) for path in ADMIN_ROUTES]
    with ThreadPoolExecutor(CLIENTS) as clients:
        for pid, base, path in targets:
            crowd(lab, clients, pid, base, path)

    judge_process(lab, console.pid, "of a console after it all", 150)
    judge_workers(lab, "after it all", 150)
    wait_until(lambda: thread_count(console.pid) <= at_rest + 8, 40, "the console's clients to end", 0.5)
    lab.end()


def crowd(lab: Lab, clients: ThreadPoolExecutor, pid: int, base: str, path: str) -> None:
    """Asks one route as often as there are clients, at once."""
    began, most = time.monotonic(), 0
    asked = [clients.submit(ask, base + path) for _ in range(CLIENTS)]
    while not all(call.done() for call in asked):
        most = max(most, thread_count(pid))
        time.sleep(0.02)
    codes = Counter(call.result()[0] for call in asked)
    took = time.monotonic() - began
    lab.figure(f"{CLIENTS} x {base.rpartition(':')[2]}{path}", f"{took:.1f} s, {most} threads, {dict(codes)}")
    lab.check(most <= THREADS, f"{most} threads while {CLIENTS} clients ask for {path}")
    lab.check(took <= 30, f"{CLIENTS} clients waited {took:.0f} s for {path}")
    # The admin server keeps 64 connections, and closes those above.
    expected = (200, 404, 503, 0) if path in ADMIN_ROUTES else (200, 404, 503)
    wrong = {code: n for code, n in codes.items() if code not in expected}
    lab.check(not wrong, f"{path} answered {wrong} to {CLIENTS} clients")
    lab.check(codes[200] + codes[404] >= 64, f"{path} answered {dict(codes)} to {CLIENTS} clients")


# Partitions, and expiries that are far away


def partitions(lab: Lab) -> None:
    """One worker owns very many partitions, answers on all of them, and leaves in time."""
    count, requests = lab.size((1_000, 5_000), (1_000, 100_000))
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=count, results=4)
    lab.provider.latency(2)
    timed(lab, f"until a worker has {count} partitions", 40, lambda: lab.workers(1, worker__concurrency=256))
    worker = lab.fleet.workers[0]
    timed(lab, f"{requests} requests", 60, lambda: (lab.sender.many(requests), lab.settle(60)))
    code, _ = timed(lab, "/status", 5, lambda: worker.get("/status", 10))
    lab.check(code == 200, f"/status answers {code}")
    timed(lab, "/metrics", 5, lambda: worker.get("/metrics", 10))
    judge_workers(lab, f"with {count} partitions", 250)
    lab.check(lab.commits_catch_up(60), "finished requests were left uncommitted")
    status = timed(lab, "until the worker has left", 30, lambda: lab.fleet.stop(0))
    lab.check(status == 0, f"the worker ended with {status}")


def expiries(lab: Lab) -> None:
    """Requests expire a day after they are sent. Once they are answered, nothing is kept for that day."""
    requests = lab.size(20_000, 200_000)
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=8)
    lab.provider.latency(1)
    lab.workers(1, worker__concurrency=256, worker__fairBy="source")
    worker = lab.fleet.workers[0]
    sizes = []
    for half in range(2):
        for i in range(requests // 2):
            send_with_expiry(lab, half * (requests // 2) + i)
        lab.settle(90)
        sizes.append(resident_bytes(worker.process.pid))
    each = (sizes[1] - sizes[0]) / (requests / 2)
    lab.figure("memory", f"{sizes[0] / 1e6:.0f} and {sizes[1] / 1e6:.0f} MB, {each:.0f} bytes for each request")
    lab.check(sizes[1] - sizes[0] <= max(8e6, requests / 2 * 50), f"{each:.0f} bytes are kept for each request")
    judge_workers(lab, f"after {requests} requests that expire in a day", 120)
    lab.end()


def send_with_expiry(lab: Lab, number: int) -> None:
    """Sends a request in an envelope that names its expiry."""
    expiry = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds").replace("+00:00", "Z")
    headers = {
        "ce_specversion": "1.0",
        "ce_id": f"e{number}",
        "ce_source": f"/tenants/{number % 100}",
        "ce_type": "location-search.requested.v1",
        "ce_expirytime": expiry,
        "content-type": "application/json",
    }
    encoded = [(name, value.encode()) for name, value in headers.items()]
    lab.sender.send(f"e{number}", request(f"e{number}", number), f"k{number}", headers=encoded)


def tenants(lab: Lab) -> None:
    """Very many tenants wait behind a small limit. One refines a search again and again, and then the worker ends."""
    count = lab.size(6_000, 30_000)
    lab.recorder.add("params", allowed=0)
    lab.begin(partitions=8, results=8, errors=8)
    lab.workers(
        1,
        topics__requests=f"{lab.topics.requests}:interactive+batch",
        worker__fairBy="header:tenant",
        worker__lookAheadBytes=1 << 30,
        worker__shutdownGrace="5s",
        providers__hotpepper__requestsPerSecond=5,
        providers__hotpepper__singleFlight=False,
    )
    worker = lab.fleet.workers[0]
    for i in range(count):
        lab.sender.send(f"t{i}", request(f"t{i}", i), f"k{i}", headers=of_tenant(f"tenant-{i}"))
    wait_until(lambda: worker.metric("locsearch_requests_waiting") >= 0.9 * count, 60, f"{count} requests to wait", 0.5)
    for i in range(11):
        body = request(f"refined{i}", i, sessionId="refined")
        lab.sender.send(f"refined{i}", body, "one", 0, "refined", headers=of_tenant("refiner"))
    lab.sender.flush()
    wait_until(lambda: lab.counts().get("superseded", 0) >= 9, 30, "older searches of the session to end", 0.2)
    judge_workers(lab, f"while {count} tenants wait", 250)

    timed(lab, "from SIGTERM to the end, with 5 s of grace", 7, lambda: lab.fleet.stop(0))
    lab.say("the next owner answers what waited")
    lab.fleet.start(0, providers__hotpepper__requestsPerSecond=100_000)
    lab.fleet.wait_ready(40)
    lab.end(settle=60)


def of_tenant(name: str) -> list[tuple[str, bytes]]:
    return [("tenant", name.encode()), ("priority", b"interactive")]


EXPERIMENTS = [
    Experiment(
        "size-fleet-topic",
        "1,000 other groups on the fleet topic: ready in time, fast, and the emergency stop takes effect",
        fleet_topic,
        seconds=(120, 600),
    ),
    Experiment(
        "size-budgets",
        "an account for each SKU, period and unit beside hundreds of others: ready in time, exact counts, small passes",
        budgets,
        seconds=(180, 600),
    ),
    Experiment(
        "size-dead-letters",
        "very many dead letters: one of them is shown and sent back without reading all",
        dead_letters,
        seconds=(150, 600),
    ),
    Experiment(
        "size-http-routes",
        f"{CLIENTS} clients at once on each route: bounded threads and memory, an answer for each",
        http_routes,
        seconds=(180, 600),
    ),
    Experiment(
        "size-partitions",
        "1,000 partitions of one worker: assigned, answered, shown and left in time",
        partitions,
        seconds=(150, 600),
    ),
    Experiment(
        "size-expiries", "requests that expire in a day: nothing is kept for that long", expiries, seconds=(120, 600)
    ),
    Experiment(
        "size-tenants",
        "very many tenants wait: a search is superseded, and SIGTERM ends the worker, without a standstill",
        tenants,
        seconds=(150, 900),
    ),
]
