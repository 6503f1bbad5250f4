"""Each rule sees the mistake that it is for, and finds nothing in the files as they are."""

import copy
import os
import sys
from collections.abc import Callable
from pathlib import Path

import operator_files
import pytest
import rules
from operator_files import Files

KUBECTL = os.fspath(Path(sys.executable).parent / "kubectl")


@pytest.fixture(scope="session")
def files() -> Files:
    return operator_files.load({name: operator_files.build_overlay(name, KUBECTL) for name in operator_files.OVERLAYS})


def service(files: Files, name: str) -> dict:
    return files.compose["services"][name]


def thing(files: Files, kind: str, name: str = "locsearch-worker", overlay: str = "production") -> dict:
    return next(
        item for item in files.overlays[overlay] if item["kind"] == kind and item["metadata"]["name"].startswith(name)
    )


def worker_pod(files: Files, overlay: str = "production") -> dict:
    return thing(files, "Deployment", overlay=overlay)["spec"]["template"]["spec"]


def with_query(files: Files, old: str, new: str) -> None:
    trigger = thing(files, "ScaledObject")["spec"]["triggers"][1]["metadata"]
    assert old in trigger["query"]
    trigger["query"] = trigger["query"].replace(old, new)


def with_variable(files: Files, name: str, value: str) -> None:
    service(files, "worker")["environment"][name] = value


def with_text(files: Files, text: str) -> None:
    files.texts["ops/worker.yaml"] += text


def with_dockerfile(files: Files, old: str, new: str) -> None:
    assert old in files.dockerfile
    files.dockerfile = files.dockerfile.replace(old, new)


MISTAKES: list[tuple[str, Callable[[Files], object], str]] = [
    ("no tag", lambda f: service(f, "grafana").update(image="docker.io/grafana/grafana"), "is not pinned"),
    ("latest", lambda f: service(f, "kafka").update(image="docker.io/apache/kafka:latest"), "is not pinned"),
    ("a port is no tag", lambda f: service(f, "jaeger").update(image="registry:5000/jaeger"), "is not pinned"),
    ("two versions", lambda f: service(f, "load").update(image="docker.io/apache/kafka:4.1.0"), "elsewhere"),
    ("base image", lambda f: with_dockerfile(f, "trixie-20260112-slim", "trixie-slim"), "Dockerfile: "),
    ("old program", lambda f: setattr(f, "version", "9.9.9"), "but the program is 9.9.9"),
    (
        "longer grace",
        lambda f: setattr(f, "shutdown_grace", 50),
        "terminationGracePeriodSeconds is 60s: expected at least 72s",
    ),
    ("no grace", lambda f: service(f, "worker").pop("stop_grace_period"), "stop_grace_period is 10s"),
    (
        "short stop",
        lambda f: setattr(f, "unit", f.unit.replace("TimeoutStopSec=60s", "TimeoutStopSec=20s")),
        "TimeoutStopSec is 20s",
    ),
    ("misspelt variable", lambda f: with_variable(f, "KAFKA_BOOTSTRAP_SERVER", "kafka:9092"), "is no setting"),
    (
        "misspelt setting",
        lambda f: thing(f, "ConfigMap")["data"].update({"worker.yaml": "worker: {lops: 1}"}),
        "worker.lops is no setting",
    ),
    (
        "a key in compose.yaml",
        lambda f: with_variable(f, "HOTPEPPER_API_KEY", "0123456789abcdef"),
        "HOTPEPPER_API_KEY has a value",
    ),
    (
        "a Secret",
        lambda f: f.overlays["production"].append({"kind": "Secret", "metadata": {"name": "x"}}),
        "a Secret belongs",
    ),
    ("Google's key", lambda f: with_text(f, "# AIza" + "x" * 35), "holds a key"),
    ("a private key", lambda f: with_text(f, "-----BEGIN PRIVATE KEY-----"), "holds a key"),
    (
        "topics by hand",
        lambda f: service(f, "topics").update(command=["kafka-topics.sh", "--create"]),
        "not by `locsearch topics create`",
    ),
    (
        "other ceiling",
        lambda f: thing(f, "ScaledObject")["spec"].update(maxReplicaCount=50),
        "maxReplicaCount is 50, partitions are {12}",
    ),
    ("other topic", lambda f: setattr(f, "defaults", f.defaults | {"topics.requests": "x"}), "another topic"),
    (
        "other batch topic",
        lambda f: service(f, "load-batch")["command"].__setitem__(1, "--topic=location-search.requests"),
        "load-batch: writes to another topic",
    ),
    ("lists that differ", lambda f: with_variable(f, "TOPICS_REQUESTS", "a,b:batch"), "TOPICS_REQUESTS differs"),
    ("capabilities", lambda f: service(f, "prometheus").pop("cap_drop"), "prometheus: keeps capabilities"),
    ("writable root", lambda f: service(f, "worker").pop("read_only"), "worker: may write to its root"),
    ("open port", lambda f: service(f, "kafka").update(ports=["9092:9092"]), "is open to the network"),
    ("root", lambda f: worker_pod(f)["securityContext"].pop("runAsNonRoot"), "may run as root"),
    ("token", lambda f: worker_pod(f).pop("automountServiceAccountToken"), "has a token"),
    (
        "writable pod",
        lambda f: worker_pod(f)["containers"][0]["securityContext"].pop("readOnlyRootFilesystem"),
        "may write to its root",
    ),
    ("one name", lambda f: service(f, "worker").update(container_name="worker"), "one container only"),
    ("one port", lambda f: service(f, "worker").update(ports=["127.0.0.1:8080:8080"]), "one container only"),
    ("no health check", lambda f: service(f, "simulator").pop("healthcheck"), "simulator: its health check is not"),
    (
        "a shell",
        lambda f: service(f, "worker")["healthcheck"].update(test=["CMD-SHELL", "locsearch probe"]),
        "is not `locsearch probe`",
    ),
    ("replicas", lambda f: thing(f, "Deployment")["spec"].update(replicas=3), "would undo the autoscaler's"),
    (
        "other namespace",
        lambda f: with_query(f, 'namespace="location-search"', 'namespace="x"'),
        "does not name the fleet",
    ),
    (
        "other job",
        lambda f: with_query(f, "location-search/locsearch-worker", "locsearch-worker"),
        "does not name the fleet",
    ),
    ("all fleets", lambda f: with_query(f, "{namespace=", "+ locsearch_ready{namespace="), "but {}"),
    (
        "zero by workers",
        lambda f: (
            thing(f, "ScaledObject")["spec"].update(minReplicaCount=0),
            thing(f, "ScaledObject")["spec"]["triggers"].pop(0),
        ),
        "scales to zero by metrics",
    ),
    (
        "misspelt setting of a provider",
        lambda f: thing(f, "ConfigMap")["data"].update({"worker.yaml": "providers: {hotpepper: {burts: 1}}"}),
        "providers.hotpepper.burts is no setting",
    ),
    ("paused fleet", lambda f: with_query(f, "pause-intake", "rate"), "counts a fleet whose intake is paused"),
    ("no target", lambda f: thing(f, "ScaledObject")["spec"]["scaleTargetRef"].update(name="x"), "which is not there"),
    (
        "number",
        lambda f: thing(f, "ScaledObject")["spec"]["triggers"][0]["metadata"].update(lagThreshold=10),
        "in quotes",
    ),
    (
        "persistent lag",
        lambda f: thing(f, "ScaledObject")["spec"]["triggers"][0]["metadata"].update(excludePersistentLag="true"),
        "scales in while a provider is down",
    ),
    (
        "fast",
        lambda f: thing(f, "ScaledObject")["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"][
            "scaleDown"
        ].update(stabilizationWindowSeconds=60),
        "within 300 s",
    ),
    (
        "loopback",
        lambda f: with_dockerfile(f, "ADMIN_HOST=0.0.0.0", "ADMIN_HOST=127.0.0.1"),
        "nothing reaches the admin endpoints",
    ),
    (
        "probe",
        lambda f: worker_pod(f)["containers"][0]["livenessProbe"]["httpGet"].update(path="/healthz"),
        "livenessProbe does not ask /livez",
    ),
    (
        "subPath",
        lambda f: worker_pod(f)["containers"][0]["volumeMounts"][1].update(subPath="hotpepper"),
        "does not follow its Secret",
    ),
    (
        "no request",
        lambda f: f.texts.update({"ops/compose/requests.jsonl": '{"limit": 0}\n{"location": 1}\n'}),
        "line 1: ",
    ),
]


def test_files_as_they_are_keep_all_rules(files):
    assert rules.problems(files) == []


@pytest.mark.parametrize(
    "damage,expected", [mistake[1:] for mistake in MISTAKES], ids=[mistake[0] for mistake in MISTAKES]
)
def test_rule_sees_the_mistake_that_it_is_for(files, damage, expected):
    damaged = copy.deepcopy(files)
    damage(damaged)

    found = rules.problems(damaged)

    assert any(expected in problem for problem in found), found


def test_every_rule_has_a_mistake_that_it_sees(files):
    seen = set()
    for _, damage, _ in MISTAKES:
        damaged = copy.deepcopy(files)
        damage(damaged)
        seen |= {rule for rule in rules.RULES if list(rule(damaged))}

    assert seen == set(rules.RULES)
