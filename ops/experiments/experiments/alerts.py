"""Each alert of ops/prometheus/alerts.yaml is provoked once, by what it is meant to tell of, and is seen to fire and to
clear.

The rules run on a clock that is sixty times faster: their durations (`for: 5m`, `[5m]`) are divided by sixty, and
nothing else is changed. Workers, broker and provider run on the usual clock.
"""

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from harness.lab import Experiment, Lab, run_command
from harness.mixture import Mixture
from harness.processes import free_port
from harness.prometheus import Prometheus
from harness.provider import fault
from harness.traffic import Topics, request
from harness.workers import Worker, base_settings, environment, properties

from .daily_budget import far_from_midnight

TIMES_FASTER = 60
OLD_MS = 60_000  # LocsearchRequestsLate fires from 30 s on.
# The embedded broker tells nothing of a topic's settings, and looks up no offset by time.
# The last one needs interactive requests beyond a limit for minutes, beside batch ones: promtool alone provokes it.
NOT_PROVOKED = {"LocsearchRequestsNearDeletion", "LocsearchInteractiveWaits"}


class Stage:
    """Provokes alerts, and sees each of them fire and clear."""

    def __init__(self, lab: Lab, prometheus: Prometheus):
        self.lab, self.prometheus = lab, prometheus
        self.provoked: list[str] = []

    def fires(self, *names: str, within: float = 45, since: float | None = None) -> None:
        """Waits until these alerts fire, and checks what they tell. They were provoked at `since`, by default now."""
        end, waiting = time.monotonic() + within, set(names)
        began = since or time.monotonic()
        while waiting and time.monotonic() < end:
            firing = self.prometheus.alerts()
            for name in sorted(waiting & firing.keys()):
                self.provoked.append(name)
                self.lab.figure(name, f"fired after {time.monotonic() - began:.0f} s")
                self._check_text(name, firing[name][0])
            waiting -= firing.keys()
            time.sleep(0.2)
        for name in sorted(waiting):
            self.lab.check(False, f"{name} did not fire within {within:.0f} s")

    def _check_text(self, name: str, alert: dict) -> None:
        for text in alert["annotations"].values():
            self.lab.check("<error" not in text and "<no value>" not in text, f"{name} says: {text}")
        self.lab.say(f"{name}: {alert['annotations']['description']}")

    def clears(self, *names: str, within: float = 45) -> None:
        began, waiting = time.monotonic(), set(names)
        while waiting and time.monotonic() - began < within:
            active = self.prometheus.alerts()
            for name in sorted(waiting - active.keys()):
                if name in self.lab.figures:
                    self.lab.figures[name] += f", cleared after {time.monotonic() - began:.0f} s"
            waiting &= active.keys()
            time.sleep(0.2)
        for name in sorted(waiting):
            self.lab.check(False, f"{name} did not clear within {within:.0f} s")

    def is_quiet(self, *names: str) -> None:
        """Checks that these do not fire yet, because else their firing would prove nothing."""
        for name in sorted(set(names) & self.prometheus.alerts().keys()):
            self.lab.check(False, f"{name} fires before it was provoked")

    def sees(self, *names: str, provoke: Callable[[], None], mend: Callable[[], None]) -> None:
        self.lab.say(f"provoking {', '.join(names)}")
        self.is_quiet(*names)
        provoke()
        self.fires(*names)
        mend()
        self.clears(*names)


class Steady(threading.Thread):
    """Sends requests at `rate` per second to workers that are apart."""

    def __init__(self, apart: "Apart", name: str, rate: float):
        super().__init__(daemon=True)
        self.apart, self.worker, self.rate = apart, name, rate
        self._stopped = threading.Event()

    def run(self) -> None:
        producer = Producer({"bootstrap.servers": self.apart.lab.broker.bootstrap, "log_level": 2})
        number = 0
        while not self._stopped.wait(1 / self.rate):
            number += 1
            value = request(f"steady{number}", number, provider="google-places")
            producer.produce(self.apart.topics(self.worker).requests, value, partition=0)
            producer.poll(0)
        producer.flush(2)

    def stop(self) -> None:
        self._stopped.set()
        if self.is_alive():
            self.join(20)


class Apart:
    """Workers with a group, topics and settings of their own. They are mistreated without any harm to the others."""

    def __init__(self, lab: Lab, prometheus: Prometheus):
        self.lab, self.prometheus = lab, prometheus
        self.started = 0
        self.ports: dict[str, int] = {}

    def topics(self, name: str) -> Topics:
        return Topics.named(f"{self.lab.run_name}-{name}")

    def start(
        self,
        name: str,
        stdout=None,
        partitions: int = 1,
        client: dict | None = None,
        variables: dict[str, str] | None = None,
        **settings,
    ) -> Worker:
        """Starts a worker under a name; the one that had it before must be gone. `variables` are of others than us."""
        topics = self.topics(name)
        self.lab.broker.create_topics(
            {topics.requests: partitions, topics.fleet: 1, topics.results: 1, topics.errors: 1, topics.dead: 1}
        )
        chosen = base_settings(self.lab.broker, topics, self.lab.provider.base_url, cooperative=self.lab.new_library)
        chosen |= {setting.replace("__", "."): value for setting, value in settings.items()}
        if client:
            chosen["kafka.properties"] = properties(
                dict(pair.split("=", 1) for pair in chosen["kafka.properties"].split(",")) | client
            )
        is_new = name not in self.ports
        port = self.ports.setdefault(name, free_port())  # Prometheus takes up to 5 s to learn of another one.
        self.started += 1
        streams = {"stdout": stdout, "stderr": stdout} if stdout else {}
        process = self.lab.processes.start(
            f"{name}.{self.started}",
            [self.lab.options.locsearch, "worker"],
            environment(chosen | {"admin.port": port}) | (variables or {}),
            **streams,
        )
        if is_new:
            self.prometheus.watch(name, port)
        return Worker(self.started, process, port)

    def wait_scraped(self, name: str) -> None:
        self.lab.until(
            lambda: self.prometheus.query(
                f'count_over_time(up{{instance="{name}"}}[5s]) > 2 and up{{instance="{name}"}} == 1'
            ),
            30,
            f"{name} to be scraped",
        )

    def send(self, name: str, values: list[bytes], partitions: int = 1) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.lab.broker.bootstrap,
                "queue.buffering.max.kbytes": 2_000_000,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        for i, value in enumerate(values):
            producer.produce(self.topics(name).requests, value, partition=i % partitions)
        producer.flush(60)

    def end(self, name: str, worker: Worker) -> None:
        self.prometheus.forget(name)
        del self.ports[name]
        worker.process.kill()
        worker.process.wait()


def run(lab: Lab) -> None:
    # Partitions are handed over while this broker refuses commits, and errors are put into it: some requests are done
    # twice.
    lab.recorder.add("params", allowed=5_000)
    lab.begin()
    lab.require_faults()
    lab.compares_calls = False  # Workers of other fleets call the same provider.
    lab.provider.latency(20)
    prometheus = Prometheus(lab.processes, lab.folder, TIMES_FASTER)
    stage, apart = Stage(lab, prometheus), Apart(lab, prometheus)
    known = {rule["name"] for rule in prometheus.rules()} - NOT_PROVOKED

    stage.fires("LocsearchNoWorker")
    fleet = lab.workers(
        2,
        providers__googlePlaces__breaker__enabled=False,
        providers__googlePlaces__adaptiveConcurrency=False,
        providers__googlePlacesLegacy__breaker__openDuration="1s",
        providers__googlePlacesLegacy__breaker__minimumCalls=5,
    )
    for worker in fleet.workers.values():
        prometheus.watch(f"worker-{worker.index + 1}", worker.admin_port)
    stage.clears("LocsearchNoWorker")

    mixture = lab._observe(Mixture(lab.sender))
    mixture.set("calm", 40)
    forecast = Forecast(lab, stage, apart)
    requests_go_wrong(lab, stage, mixture)
    kafka_takes_nothing(lab, stage, apart)
    forecast.provoke()
    the_fleets_topic(lab, stage, apart)
    a_record_that_crashes(lab, stage, apart)
    a_log_that_was_truncated(lab, stage, apart)
    keys(lab, stage, apart)
    a_pause(stage, apart)
    a_budget(lab, stage, apart)
    forecast.sees()
    a_worker_in_trouble(stage, apart)
    a_group_without_workers(lab, stage, apart)
    a_foreign_member(lab, stage, apart)
    intake_that_is_paused(lab, stage, apart)
    a_control_that_is_forgotten(lab, stage, apart)
    too_much_to_do(lab, stage, mixture)
    too_much_for_one_loop(stage, apart)
    too_much_in_memory(stage, apart)
    requests_that_are_deleted(stage, apart)

    lab.check(known == set(stage.provoked), f"not provoked: {', '.join(sorted(known - set(stage.provoked)))}")
    lab.figure("alerts provoked", f"{len(set(stage.provoked))} of {len(known)}")
    mixture.stop()
    lab.end(settle=90)


def requests_go_wrong(lab: Lab, stage: Stage, mixture: Mixture) -> None:
    def old(id: str, number: int) -> None:
        lab.sender.send(id, request(id, number), id, timestamp_ms=round(time.time() * 1000) - OLD_MS)

    def provoke() -> None:
        mixture.set("failing", 20, provider="google-places", keyword=fault("503"))
        mixture.set("shut", 10, provider="google-places-legacy", keyword=fault("503"))
        mixture.set("no-request", 4, lambda id, number: lab.sender.send(None, b"no JSON", id, bad=True))
        mixture.set("old", 10, old)

    def mend() -> None:
        for kind in ("failing", "shut", "no-request", "old"):
            mixture.set(kind, 0)
        mixture.set("probe", 5, provider="google-places-legacy")  # An open breaker closes only when it is asked.

    stage.sees(
        "LocsearchErrors",
        "LocsearchRetriesRefused",
        "LocsearchBreakerOpen",
        "LocsearchDeadLetters",
        "LocsearchRequestsLate",
        provoke=provoke,
        mend=mend,
    )


def kafka_takes_nothing(lab: Lab, stage: Stage, apart: Apart) -> None:
    refused: list[Worker] = []

    def refuse() -> None:
        apart.send("refused", [request("refused", 1)])
        results = apart.topics("refused").results
        lab.broker.tell(topic={"name": results, "partitions": 1})
        lab.broker.tell(topicError={"topic": results, "error": "TOPIC_AUTHORIZATION_FAILED"})
        refused.append(apart.start("refused"))

    stage.sees(
        "LocsearchTopicTakesNoRecords",
        provoke=refuse,
        mend=lambda: lab.broker.tell(topicError={"topic": apart.topics("refused").results, "error": 0}),
    )
    apart.end("refused", refused[0])

    stage.sees(
        "LocsearchCommitsOverdue",
        provoke=lambda: lab.broker.tell(fail={"api": "OffsetCommit", "errors": ["COORDINATOR_NOT_AVAILABLE"] * 1000}),
        mend=lambda: lab.broker.tell(clear={"api": "OffsetCommit"}),
    )


def the_fleets_topic(lab: Lab, stage: Stage, apart: Apart) -> None:
    """A worker with a limit may not use the topic in which it would share it, until it may."""
    worker: list[Worker] = []
    fleet = apart.topics("closed").fleet

    def close() -> None:
        lab.broker.tell(topic={"name": fleet, "partitions": 1})
        lab.broker.tell(topicError={"topic": fleet, "error": "TOPIC_AUTHORIZATION_FAILED"})
        worker.append(apart.start("closed", providers__hotpepper__requestsPerSecond=100))

    stage.sees(
        "LocsearchFleetTopicUnusable",
        provoke=close,
        mend=lambda: lab.broker.tell(topicError={"topic": fleet, "error": 0}),
    )
    apart.end("closed", worker[0])


def a_record_that_crashes(lab: Lab, stage: Stage, apart: Apart) -> None:
    """Former owners have noted that processes crashed while they ran the first record alone."""
    worker: list[Worker] = []
    topics = apart.topics("crashing")

    def note_crashes() -> None:
        apart.send("crashing", [request("crashing", 1)])
        member = Consumer({"bootstrap.servers": lab.broker.bootstrap, "group.id": topics.group})
        # The last field is none that a worker knows: this client may end the text with a byte of its own.
        notes = "locsearch1;at=0;tries=3;begun=1;suspect=0:3;x"
        member.commit(offsets=[TopicPartition(topics.requests, 0, 0, notes)], asynchronous=False)
        member.close()
        worker.append(apart.start("crashing"))

    stage.sees("LocsearchRecordSetAside", provoke=note_crashes, mend=lambda: apart.end("crashing", worker[0]))


def a_log_that_was_truncated(lab: Lab, stage: Stage, apart: Apart) -> None:
    """The group has committed an offset past the end of its partition, until a person says where to go on.

    The embedded broker refuses offsets of others once a group has had members, so that `locsearch offsets reset` cannot
    move them there.
    """
    worker: list[Worker] = []
    topics = apart.topics("truncated")

    def provoke() -> None:
        apart.send("truncated", [request("truncated", 1)])
        member = Consumer({"bootstrap.servers": lab.broker.bootstrap, "group.id": topics.group})
        member.commit(offsets=[TopicPartition(topics.requests, 0, 500)], asynchronous=False)
        member.close()
        worker.append(apart.start("truncated"))

    def mend() -> None:
        worker[0].process.terminate()
        worker[0].process.wait()
        worker.append(apart.start("truncated", client={"auto.offset.reset": "earliest"}))

    stage.sees("LocsearchPartitionBlocked", provoke=provoke, mend=mend)
    apart.end("truncated", worker[1])


def keys(lab: Lab, stage: Stage, apart: Apart) -> None:
    """A refused key is tried again after minutes, a used-up quota after an hour. A worker that is started anew tries at
    once.
    """
    first = apart.start("keys")
    lab.until(first.ready, 30, "the worker to be ready")
    bad_key = request("key", 1, keyword=fault("2000"))
    no_quota = request("quota", 2, provider="google-places-legacy", keyword=fault("OVER_DAILY_LIMIT"))
    second: list[Worker] = []

    def renew() -> None:
        first.process.kill()
        first.process.wait()
        second.append(apart.start("keys"))

    stage.sees(
        "LocsearchKeyRefused",
        "LocsearchQuotaUsedUp",
        provoke=lambda: apart.send("keys", [bad_key, no_quota]),
        mend=renew,
    )
    apart.end("keys", second[0])


def a_pause(stage: Stage, apart: Apart) -> None:
    """A provider asks one worker for a pause. A worker that is started anew has none to keep."""
    worker = apart.start("paused", providers__googlePlaces__maxAttempts=1)
    asked = request("pause", 1, provider="google-places", keyword=fault("429=600"))
    second: list[Worker] = []

    def renew() -> None:
        worker.process.kill()
        worker.process.wait()
        second.append(apart.start("paused"))

    stage.sees("LocsearchProviderPaused", provoke=lambda: apart.send("paused", [asked]), mend=renew)
    apart.end("paused", second[0])


def a_budget(lab: Lab, stage: Stage, apart: Apart) -> None:
    """Four fifths of a day's budget are taken, until a person has them count from zero again."""
    worker = apart.start("budget", providers__hotpepper__callsPerDay=50)
    lab.until(worker.ready, 30, "the worker to be ready")
    topics = apart.topics("budget")
    own = environment(  # A budget belongs to a group and its requests topic.
        {
            "kafka.bootstrapServers": lab.broker.bootstrap,
            "kafka.properties": f"fetch.wait.max.ms={lab.broker.fetch_wait_ms}",
            "kafka.groupId": topics.group,
            "topics.requests": topics.requests,
            "topics.fleet": topics.fleet,
            "providers.hotpepper.callsPerDay": 50,
        }
    )

    def reset() -> None:
        # What is reserved still counts after that.
        used = "locsearch_provider_budget_used"
        lab.until(lambda: worker.metric(used) >= 45, 30, "the calls to be made")
        done = run_command([lab.options.locsearch, "budget", "reset", "hotpepper", "--yes"], own)
        lab.check(done.returncode == 0, f"the budget was not reset: {done.stderr.strip()}")

    # Calls of so small a budget are claimed two at a time, so that 45 take longer than a request usually has.
    requests = [request(f"budget{i}", i, timeoutMs=30_000) for i in range(45)]
    stage.sees("LocsearchBudgetNearlyUsed", provoke=lambda: apart.send("budget", requests), mend=reset)
    apart.end("budget", worker)


class Forecast:
    """A load that lasts until the day ends, one that does not, and a person who raises the budget.

    The budget has three calls for each second until the day ends, in about twelve hours. The clock of the rules is
    faster, that of the day is not, so the other alerts are provoked meanwhile. `a_budget` has another provider, because
    the rules take both fleets for one: they have the same job.
    """

    NAME, BUDGET = "LocsearchBudgetForecast", 130_000

    def __init__(self, lab: Lab, stage: Stage, apart: Apart):
        self.lab, self.stage, self.apart = lab, stage, apart
        self.settings: dict[str, Any] = {
            "providers.googlePlaces.callsPerDay": self.BUDGET,
            "providers.googlePlaces.dayBegins": far_from_midnight(),
        }
        self.worker = apart.start("lasting", **{k.replace(".", "__"): v for k, v in self.settings.items()})
        self.load = lab._observe(Steady(apart, "lasting", rate=1))
        self.began = time.monotonic()

    def provoke(self) -> None:
        # The rule waits for an hour, which is a minute here.
        time.sleep(max(0.0, self.began + 90 - time.monotonic()))
        used = 'locsearch_provider_budget_used{instance="lasting"}'
        self.lab.check((self.apart.prometheus.number(used) or 0) > 40, "the load that lasts uses no calls")
        self.stage.is_quiet(self.NAME)
        self.lab.figure("silent", f"{self.NAME} for {time.monotonic() - self.began:.0f} s of a load that lasts")
        self.load.rate, self.began = 10, time.monotonic()

    def sees(self) -> None:
        self.stage.fires(self.NAME, within=120, since=self.began)
        topics = self.apart.topics("lasting")
        own = environment(
            self.settings
            | {
                "kafka.bootstrapServers": self.lab.broker.bootstrap,
                "kafka.properties": f"fetch.wait.max.ms={self.lab.broker.fetch_wait_ms}",
                "kafka.groupId": topics.group,
                "topics.requests": topics.requests,
                "topics.fleet": topics.fleet,
            }
        )
        more = [self.lab.options.locsearch, "budget", "set", "google-places", str(10 * self.BUDGET), "--yes"]
        done = run_command(more, own)
        self.lab.check(done.returncode == 0, f"the budget was not raised: {done.stderr.strip()}")
        self.stage.clears(self.NAME)
        self.load.stop()
        self.apart.end("lasting", self.worker)


def a_group_without_workers(lab: Lab, stage: Stage, apart: Apart) -> None:
    """The console tells that requests wait which no worker is there to take, until one is."""
    worker = apart.start("unread")
    apart.send("unread", [request("first", 1)])
    lab.until(lambda: worker.metric("locsearch_requests_taken_total") == 1, 30, "the first request to be taken")
    worker.process.terminate()
    worker.process.wait()
    second: list[Worker] = []

    def provoke() -> None:
        apart.send("unread", [request("second", 2)])
        topics, port = apart.topics("unread"), free_port()
        chosen = base_settings(lab.broker, topics, lab.provider.base_url, cooperative=lab.new_library)
        own = environment(chosen | {"console.port": port})
        lab.processes.start("console", [lab.options.locsearch, "console"], own)
        apart.prometheus.watch("console", port)

    stage.sees("LocsearchNobodyConsumes", provoke=provoke, mend=lambda: second.append(apart.start("unread")))
    apart.prometheus.forget("console")
    apart.end("unread", second[0])


def a_foreign_member(lab: Lab, stage: Stage, apart: Apart) -> None:
    """A program that is no worker joins the workers' group and takes one of two partitions, until it leaves."""
    worker = apart.start("shared", partitions=2)
    lab.until(worker.ready, 30, "the worker to be ready")
    topics, port = apart.topics("shared"), free_port()
    chosen = base_settings(lab.broker, topics, lab.provider.base_url, cooperative=lab.new_library)
    console = lab.processes.start(
        "console-shared", [lab.options.locsearch, "console"], environment(chosen | {"console.port": port})
    )
    apart.prometheus.watch("console-shared", port)
    apart.wait_scraped("console-shared")
    client = dict(pair.split("=", 1) for pair in chosen["kafka.properties"].split(","))
    foreign = Consumer(
        client | {"bootstrap.servers": lab.broker.bootstrap, "group.id": topics.group, "client.id": "foreign"}
    )
    joined, leaves = threading.Event(), threading.Event()

    def read() -> None:
        foreign.subscribe([topics.requests], on_assign=lambda _, partitions: partitions and joined.set())
        while not leaves.is_set():
            foreign.poll(0.2)
        foreign.close()

    def join() -> None:
        threading.Thread(target=read, daemon=True).start()
        lab.check(joined.wait(40), "the foreign member got no partition")

    stage.sees("LocsearchPartitionsUnread", provoke=join, mend=leaves.set)
    apart.prometheus.forget("console-shared")
    console.kill()
    apart.end("shared", worker)


def intake_that_is_paused(lab: Lab, stage: Stage, apart: Apart) -> None:
    """A person has the fleet of one group take nothing, and after a while lets it go on."""
    worker = apart.start("idle")
    lab.until(worker.ready, 30, "the worker to be ready")
    topics = apart.topics("idle")
    own = environment(
        {
            "kafka.bootstrapServers": lab.broker.bootstrap,
            "kafka.groupId": topics.group,
            "topics.requests": topics.requests,
            "topics.fleet": topics.fleet,
        }
    )

    def order(change: str) -> None:
        run_command([lab.options.locsearch, "controls", change, "intake", "--yes"], own)

    def provoke() -> None:
        order("pause")
        apart.send("idle", [request("paused", 1)])

    stage.sees("LocsearchIntakePaused", provoke=provoke, mend=lambda: order("resume"))
    apart.end("idle", worker)


def a_control_that_is_forgotten(lab: Lab, stage: Stage, apart: Apart) -> None:
    """A person pauses a provider, and takes that back after more than an hour, which is a minute here."""
    name, worker = "LocsearchControlInForce", apart.start("controlled")
    lab.until(worker.ready, 30, "the worker to be ready")
    topics = apart.topics("controlled")
    own = environment(
        {
            "kafka.bootstrapServers": lab.broker.bootstrap,
            "kafka.groupId": topics.group,
            "topics.requests": topics.requests,
            "topics.fleet": topics.fleet,
        }
    )

    stage.is_quiet(name)
    run_command([lab.options.locsearch, "controls", "pause", "hotpepper", "--yes"], own)
    stage.fires(name, within=120)
    run_command([lab.options.locsearch, "controls", "resume", "hotpepper", "--yes"], own)
    stage.clears(name)
    apart.end("controlled", worker)


def a_worker_in_trouble(stage: Stage, apart: Apart) -> None:
    lab, trouble = apart.lab, {}

    def loses_its_broker_and_its_reader() -> None:
        nobody = {"debug": "all", "reconnect.backoff.ms": 1, "reconnect.backoff.max.ms": 10}
        trouble["lonely"] = apart.start(
            "lonely",
            stdout=subprocess.PIPE,
            client=nobody,
            kafka__bootstrapServers=f"127.0.0.1:{free_port()}",
            log__level="debug",
        )

    def restarts() -> None:
        start_time, last = 'process_start_time_seconds{instance="restarted"}', None
        for _ in range(4):
            worker = apart.start("restarted")
            lab.until(
                lambda: apart.prometheus.number(start_time) not in (None, last), 20, "the new process to be scraped"
            )
            last = apart.prometheus.number(start_time)
            worker.process.kill()
            worker.process.wait()

    def loses_its_collector() -> None:
        traced = trouble["traced"] = apart.start(
            "traced",
            tracing__endpoint=f"http://127.0.0.1:{free_port()}",
            variables={"OTEL_EXPORTER_OTLP_TIMEOUT": "100"},
        )
        lab.until(traced.ready, 30, "the worker to be ready")
        apart.wait_scraped("traced")  # What is lost before the first scrape is no increase.
        apart.send("traced", [request(f"traced{i}", i) for i in range(1_000)])

    def provoke() -> None:
        loses_its_broker_and_its_reader()
        loses_its_collector()
        full = trouble["full"] = apart.start("full")
        lab.until(full.ready, 30, "the worker to be ready")
        opened = int(full.metric("process_open_fds"))
        limit_files(full, round(opened / 0.9))
        restarts()

    def mend() -> None:
        apart.end("lonely", trouble["lonely"])
        apart.end("traced", trouble["traced"])
        apart.prometheus.forget("restarted")
        limit_files(trouble["full"], 4096)

    stage.sees(
        "LocsearchWorkerNotReady",
        "LocsearchLogLinesDropped",
        "LocsearchFilesRunOut",
        "LocsearchSpansLost",
        "LocsearchWorkerRestarts",
        provoke=provoke,
        mend=mend,
    )

    full = trouble["full"]
    stage.clears("LocsearchWorkerUnreachable")  # It told of the one that was restarted.
    stage.sees(
        "LocsearchWorkerUnreachable",
        provoke=lambda: full.process.send_signal(19),
        mend=lambda: full.process.send_signal(18),
    )
    apart.end("full", full)


def limit_files(worker: Worker, most: int) -> None:
    subprocess.run(["prlimit", f"--pid={worker.process.pid}", f"--nofile={most}:4096"], check=True)


def too_much_to_do(lab: Lab, stage: Stage, mixture: Mixture) -> None:
    def if_few_wait(id: str, number: int, most: int = 20_000, **members) -> None:
        # More than 20,000 would be more than the broker keeps.
        if lab.sender.produced - lab.recorder.finished < most:
            lab.sender.send(id, request(id, number, **members), id)

    def slow(id: str, number: int) -> None:
        if_few_wait(id, number, provider="google-places")

    def hanging(id: str, number: int) -> None:
        # Both workers are full with 128. The breaker and the adaptive limit of Google Places are off, and do not help
        # them.
        if_few_wait(id, number, most=250, provider="google-places", keyword=fault("hang"), timeoutMs=20_000)

    def far_too_slow() -> None:
        lab.provider.latency(3_000)
        mixture.set("many", 4_000, slow)

    def fast_again() -> None:
        mixture.set("many", 0)
        lab.provider.latency(0)

    stage.sees(
        "LocsearchNothingTaken",
        provoke=lambda: mixture.set("hanging", 150, hanging),
        mend=lambda: mixture.set("hanging", 0),
    )
    stage.sees("LocsearchBacklogGrows", provoke=far_too_slow, mend=fast_again)


def too_much_for_one_loop(stage: Stage, apart: Apart) -> None:
    """A backlog for a provider that is not there: each call costs the worker a connection and nobody else anything, so
    that a machine with two cores has one for its loop."""
    partitions = 32
    worker: list[Worker] = []

    def provoke() -> None:
        apart.lab.broker.create_topics({apart.topics("busy").requests: partitions})
        apart.send("busy", [request("refused", number) for number in range(600_000)], partitions)
        nobody: dict[str, Any] = {
            "hotpepper__baseURL": f"http://127.0.0.1:{free_port()}",
            "providers__hotpepper__maxAttempts": 1,
        }
        untroubled: dict[str, Any] = {
            "providers__hotpepper__breaker__enabled": "false",
            "providers__hotpepper__adaptiveConcurrency": "false",
        }
        worker.append(apart.start("busy", partitions=partitions, **nobody, **untroubled))

    stage.sees("LocsearchLoopBusy", provoke=provoke, mend=lambda: apart.end("busy", worker[0]))


def too_much_in_memory(stage: Stage, apart: Apart) -> None:
    """A worker is allowed to read ahead far more than it can work off."""
    partitions = 100  # The broker keeps 5 MB of each.
    stuck = {
        "queued.max.messages.kbytes": 2_000_000,
        "queued.min.messages": 100_000,
        "fetch.message.max.bytes": 5_000_000,
    }
    filler = request("filler", 1, keyword=fault("hang"), timeoutMs=30_000)
    filler = filler[:-1] + b',"x":"' + b"y" * 60_000 + b'"}'
    worker: list[Worker] = []

    def provoke() -> None:
        worker.append(apart.start("large", partitions=partitions, client=stuck, worker__concurrency=4))
        apart.send("large", [filler] * (75 * partitions), partitions)

    stage.sees("LocsearchMemoryHigh", provoke=provoke, mend=lambda: apart.end("large", worker[0]))


def requests_that_are_deleted(stage: Stage, apart: Apart) -> None:
    """The embedded broker keeps the newest 5 MB of a partition. More is written while no worker reads."""
    name, taken = "LocsearchRequestsDeletedUnread", 'locsearch_requests_taken_total{instance="deleted"}'
    filler = request("filler", 1)[:-1] + b',"x":"' + b"y" * 60_000 + b'"}'
    stage.is_quiet(name)

    worker = apart.start("deleted")
    stage.lab.until(worker.ready, 30, "the worker to be ready")
    apart.send("deleted", [request("first", 1)])
    stage.lab.until(lambda: apart.prometheus.number(taken) == 1, 30, "the first request to be taken")
    worker.process.terminate()
    worker.process.wait()
    apart.send("deleted", [filler] * 150)

    worker = apart.start("deleted")
    stage.fires(name)
    # It tells of the last hour, which is a minute here.
    stage.clears(name, within=120)
    apart.end("deleted", worker)


EXPERIMENTS = [
    Experiment(
        "alerts",
        "each alert is provoked, fires and clears, on rules whose durations are divided by 60",
        run,
        seconds=(660, 660),
        alone=True,
    )
]
