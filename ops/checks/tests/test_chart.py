"""The chart equals the production overlay, refuses settings that do not exist, and is consistent for other values."""

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chart
import helm_python
import operator_files
import pytest
import yaml

KUBECTL = os.fspath(Path(sys.executable).parent / "kubectl")


def rendered(values: dict[str, Any], name: str = "locsearch") -> dict[str, dict]:
    """Returns the objects of a release by kind and name."""
    with helm_python.Chart.load(chart.CHART) as loaded:
        texts = loaded.render(values, name=name, namespace="location-search").values()
    objects = [thing for text in texts for thing in chart.documents(text) if thing]
    return {f"{thing['kind']} {thing['metadata']['name']}": thing for thing in objects}


@pytest.fixture(scope="module")
def both() -> tuple[list[dict], list[dict]]:
    overlay, own = (operator_files.build_overlay(name, KUBECTL) for name in ("production", "chart"))
    return list(chart.documents(overlay)), list(chart.documents(own))


def thing(objects: list[dict], kind: str, name: str) -> dict:
    return next(one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name)


def worker(objects: list[dict]) -> dict:
    container: dict = thing(objects, "Deployment", "locsearch-worker")["spec"]["template"]["spec"]["containers"][0]
    return container


def rule_of(objects: list[dict]) -> dict:
    return thing(objects, "PrometheusRule", "locsearch-worker")


def settings_of(objects: list[dict]) -> dict:
    data: dict = thing(objects, "ConfigMap", "locsearch-worker")["data"]
    return data


DIFFERENCES: list[tuple[str, Callable[[list[dict]], object]]] = [
    ("containers[0].env[0].value", lambda them: worker(them)["env"][0].update(value="127.0.0.1")),
    ("containers[0].ports[0].containerPort", lambda them: worker(them)["ports"][0].update(containerPort=80)),
    ("readinessProbe.httpGet.path", lambda them: worker(them)["readinessProbe"]["httpGet"].update(path="/")),
    ("readOnlyRootFilesystem", lambda them: worker(them)["securityContext"].pop("readOnlyRootFilesystem")),
    ("PrometheusRule locsearch-worker.spec.groups", lambda them: rule_of(them)["spec"]["groups"].pop()),
    ("only in the overlay", lambda them: them.remove(thing(them, "PodDisruptionBudget", "locsearch-worker"))),
    ("worker.shutdownGrace", lambda them: settings_of(them).update({"worker.yaml": "worker: {shutdownGrace: 1s}"})),
]


def test_chart_equals_the_production_overlay(both):
    assert list(chart.differences(*both)) == []


@pytest.mark.parametrize("place,damage", DIFFERENCES, ids=[place for place, _ in DIFFERENCES])
def test_difference_from_the_overlay_is_named(both, place, damage):
    overlay, own = copy.deepcopy(both)
    damage(own)
    assert any(place in found for found in chart.differences(overlay, own))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"settings": {"worker": {"concurency": 1}}}, "concurency"),
        ({"settings": {"worker": {"loops": 65}}}, "maximum"),
        ({"settings": {"worker": {"ordering": "topic"}}}, "ordering"),
        ({"settings": {"worker": {"deadline": 5}}}, "deadline"),
        ({"settings": {"hotpepper": {"apiKey": "text"}}}, "apiKey"),
        ({"settings": {"providers": {"hotpepper": {"burts": 1}}}}, "burts"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"secret": {}}, "secret"),
        ({"extraVolumes": {"name": "files"}}, "extraVolumes"),
        ({"autoscaling": {"minReplicas": 0}, "console": {"enabled": False}}, "needs console.enabled"),
    ],
)
def test_wrong_value_is_refused_and_named(values, expected):
    with pytest.raises(helm_python.HelmError, match=expected):
        rendered(values)


def test_more_files_are_mounted_in_every_pod():
    volume = {"name": "files", "configMap": {"name": "locsearch-files"}}
    mount = {"name": "files", "mountPath": "/etc/locsearch-files", "readOnly": True}
    objects = rendered({"extraVolumes": [volume], "extraVolumeMounts": [mount], "secrets": {"kafka": "login"}})
    pods = [one["spec"]["template"]["spec"] for one in objects.values() if one["kind"] in ("Deployment", "Job")]
    assert len(pods) == 3
    for pod in pods:
        assert volume in pod["volumes"]
        assert mount in pod["containers"][0]["volumeMounts"]


def test_digest_comes_before_the_tag():
    digest = "sha256:" + "a" * 64
    for thing in rendered({"image": {"repository": "r/location-search-worker", "digest": digest, "tag": "x"}}).values():
        if thing["kind"] in ("Deployment", "Job"):
            images = [one["image"] for one in thing["spec"]["template"]["spec"]["containers"]]
            assert images == [f"r/location-search-worker@{digest}"]


def test_large_numbers_stay_integers():
    objects = rendered({"settings": {"worker": {"lookAheadBytes": 17179869184}}})
    text = objects["ConfigMap locsearch-worker"]["data"]["worker.yaml"]
    assert "lookAheadBytes: 17179869184\n" in text


def test_scale_to_zero_asks_the_console_and_drops_the_alert_of_no_worker():
    def alerts(objects: dict[str, dict]) -> set[str]:
        groups = objects["PrometheusRule locsearch-worker"]["spec"]["groups"]
        return {rule["alert"] for group in groups for rule in group["rules"]}

    usual, zero = rendered({}), rendered({"autoscaling": {"minReplicas": 0}})
    spec = zero["ScaledObject locsearch-worker"]["spec"]
    assert spec["minReplicaCount"] == 0
    assert "locsearch_group_waiting" in spec["triggers"][0]["metadata"]["query"]
    assert alerts(usual) - alerts(zero) == {"LocsearchNoWorker"}


def test_release_of_another_name_is_consistent():
    objects = rendered({}, name="tokyo")
    assert "Deployment tokyo-locsearch-worker" in objects
    # Each name that an object refers to is that of another object.
    spec = objects["Deployment tokyo-locsearch-console"]["spec"]["template"]["spec"]
    env = {one["name"]: one["value"] for one in spec["containers"][0]["env"]}
    assert env["CONSOLE_WORKERS"] == "http://tokyo-locsearch-worker:8080"
    assert "Service tokyo-locsearch-worker" in objects
    assert f"ServiceAccount {spec['serviceAccountName']}" in objects
    query = objects["ScaledObject tokyo-locsearch-worker"]["spec"]["triggers"][1]["metadata"]["query"]
    assert 'job="location-search/tokyo-locsearch-worker"' in query


def test_parts_can_be_left_out():
    less = {
        "console": {"enabled": False},
        "topics": {"enabled": False},
        "autoscaling": {"enabled": False},
        "monitoring": {"enabled": False},
        "dashboards": {"enabled": False},
        "networkPolicy": {"enabled": False},
        "hostUsers": True,
    }
    objects = rendered(less)
    assert {thing["kind"] for thing in objects.values()} == {
        "ConfigMap", "Deployment", "PodDisruptionBudget", "Service", "ServiceAccount"
    }  # fmt: skip
    spec = objects["Deployment locsearch-worker"]["spec"]
    assert spec["replicas"] == 2
    assert "hostUsers" not in spec["template"]["spec"]


def test_package_holds_the_alerts_and_the_dashboard_themselves(tmp_path):
    archive = helm_python.package(chart.CHART, destination=tmp_path)
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    for name, source in (("alerts.yaml", "ops/prometheus"), ("dashboard.json", "ops/grafana")):
        packed = tmp_path / "locsearch/files" / name
        assert packed.is_file() and not packed.is_symlink()
        assert packed.read_text() == (chart.ROOT / source / name).read_text()


def test_sessions_of_the_console_fit_in_its_pod():
    source = (chart.ROOT / "Sources/Commands/locsearch/Console/ConsoleService.swift").read_text()
    mebibytes = int(source.split("StoreConfiguration(maxBytes: ")[1].split(" << 20")[0])
    spec = rendered({})["Deployment locsearch-console"]["spec"]["template"]["spec"]
    limit = int(spec["containers"][0]["resources"]["limits"]["memory"].removesuffix("Mi"))
    # The states that pages see may take as much again, and the list of dead letters takes up to 100 MB.
    assert 2 * mebibytes + 100 < limit


def test_chart_has_the_version_of_the_program():
    about = yaml.safe_load((chart.CHART / "Chart.yaml").read_text())
    version = (chart.ROOT / "Sources/Commands/locsearch/Version.swift").read_text().split('"')[1]
    assert (about["version"], about["appVersion"]) == (version, version)
