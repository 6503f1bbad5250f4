"""Rules that no validator knows, because they are about this program. Each yields one line for each problem."""

import json
import re
from collections.abc import Callable, Iterator

import jsonschema
from chart import documents
from operator_files import ROOT, Files, is_ours, pods

# What may follow worker.shutdownGrace at the end: transactions 5 s, leaving the group 10 s, flushing 5 s, the admin
# server 2 s.
AFTER_GRACE = 22
# The setting for the simulator, which takes any text as a key.
NO_SECRET = "any-text"
PROVIDER = re.compile(r"^providers\.(googlePlaces|googlePlacesLegacy|hotpepper)\.")


def images(files: Files) -> Iterator[tuple[str, str]]:
    """Yields where an image is named, and its name."""
    for name, service in files.compose["services"].items():
        yield f"compose.yaml, {name}", service["image"]
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            yield from ((f"overlay {overlay}, {pod}", container["image"]) for container in spec["containers"])
    for image in re.findall(r"^FROM (\S+)", files.dockerfile, re.MULTILINE):
        if image != "scratch":
            yield "Dockerfile", image


def images_are_pinned_to_one_version(files: Files) -> Iterator[str]:
    versions: dict[str, str] = {}
    for place, image in images(files):
        name, _, tag = image.rpartition(":")
        if re.fullmatch(r".+@sha256:[0-9a-f]{64}", image):
            continue
        if not name or "/" in tag or not re.search(r"\d+\.\d+|\d{8}", tag):
            yield f"{place}: {image} is not pinned to a version"
        elif versions.setdefault(name.rsplit("/", 1)[-1], tag) != tag:
            yield f"{place}: {image} is {versions[name.rsplit('/', 1)[-1]]} elsewhere"


def our_image_has_the_version_of_the_program(files: Files) -> Iterator[str]:
    for place, image in images(files):
        if is_ours(image) and "@" not in image and not image.endswith(f":{files.version}"):
            yield f"{place}: {image}, but the program is {files.version}"
    for version in re.findall(r"^ARG VERSION=(.*)$", files.dockerfile, re.MULTILINE):
        if version != files.version:
            yield f"Dockerfile: VERSION={version}, but the program is {files.version}"


def workers_have_time_to_end(files: Files) -> Iterator[str]:
    needed = files.shutdown_grace + AFTER_GRACE
    given = {"compose.yaml, stop_grace_period": files.compose["services"]["worker"].get("stop_grace_period", "10s")}
    given |= {"systemd, TimeoutStopSec": (re.findall(r"^TimeoutStopSec=(.*)$", files.unit, re.MULTILINE) or ["90s"])[0]}
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            if pod == "Deployment locsearch-worker":
                given[f"overlay {overlay}, terminationGracePeriodSeconds"] = (
                    f"{spec.get('terminationGracePeriodSeconds', 30)}s"
                )
    for place, time in given.items():
        if int(time.removesuffix("s")) < needed:
            yield f"{place} is {time}: expected at least {needed}s, worker.shutdownGrace and {AFTER_GRACE} s"


def our_environments(files: Files) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yields the environment of each container that runs our image."""
    for name, service in files.compose["services"].items():
        if is_ours(service["image"]):
            yield f"compose.yaml, {name}", service.get("environment", {})
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            for container in spec["containers"]:
                if is_ours(container["image"]):
                    yield (
                        f"overlay {overlay}, {pod}",
                        {entry["name"]: entry.get("value") for entry in container.get("env", [])},
                    )


def variables_are_settings(files: Files) -> Iterator[str]:
    known = set(files.settings.values()) | {"LOCSEARCH_CONFIG"}
    for place, environment in our_environments(files):
        yield from (f"{place}: {name} is no setting" for name in environment if name not in known)


def settings_in_config_maps_exist(files: Files) -> Iterator[str]:
    def names(tree: dict, prefix: str = "") -> Iterator[str]:
        for key, value in tree.items():
            yield from names(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]

    for overlay, objects in files.overlays.items():
        for thing in objects:
            if thing["kind"] == "ConfigMap" and "worker.yaml" in thing["data"]:
                for name in names(next(documents(thing["data"]["worker.yaml"]))):
                    # Each provider has the settings of providers.default.
                    if PROVIDER.sub("providers.default.", name) not in files.settings:
                        yield f"overlay {overlay}, worker.yaml: {name} is no setting"


def nothing_holds_a_secret(files: Files) -> Iterator[str]:
    for place, environment in our_environments(files):
        for name, value in environment.items():
            if re.search(r"KEY$|PASSWORD$|SECRET$|TOKEN$", name) and value not in (None, NO_SECRET):
                yield f"{place}: {name} has a value"
    for overlay, objects in files.overlays.items():
        if any(thing["kind"] == "Secret" for thing in objects):
            yield f"overlay {overlay}: a Secret belongs in the cluster, not in a file"
    for path, text in files.texts.items():
        if re.search(r"AIza[\w-]{30}|-----BEGIN [A-Z ]*PRIVATE KEY|^\s*(?:apiKey|password): ", text, re.MULTILINE):
            yield f"{path}: holds a key or a password"


READERS = ("topics", "worker", "console")


def topics_are_made_by_the_command(files: Files) -> Iterator[str]:
    commands = {"compose.yaml": files.compose["services"]["topics"]["command"]}
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            if pod.startswith("Job "):
                commands[f"overlay {overlay}"] = spec["containers"][0]["args"]
    partitions = set()
    for place, command in commands.items():
        if command[:2] != ["topics", "create"]:
            yield f"{place}: topics are made by {command}, not by `locsearch topics create`"
        elif "--partitions" in command:
            partitions.add(int(command[command.index("--partitions") + 1]))
    for overlay, objects in files.overlays.items():
        for thing in objects:
            if thing["kind"] == "ScaledObject" and {thing["spec"]["maxReplicaCount"]} != partitions:
                yield (
                    f"overlay {overlay}: maxReplicaCount is {thing['spec']['maxReplicaCount']}, partitions "
                    f"are {partitions}"
                )
    yield from _load_writes_to_request_topics(files)


def _load_writes_to_request_topics(files: Files) -> Iterator[str]:
    """Every container that reads requests knows all of their topics, and each producer writes to one of these."""
    services = files.compose["services"]
    lists = {name: (services[name].get("environment") or {}).get("TOPICS_REQUESTS") for name in READERS}
    if len(set(lists.values())) > 1:
        yield f"compose.yaml: TOPICS_REQUESTS differs: {lists}"
    classes = dict(entry.partition(":")[::2] for entry in (lists["worker"] or "").split(","))
    for name, topic, kind in (
        ("load", files.defaults["topics.requests"], ""),
        ("load-batch", next((topic for topic, kind in classes.items() if kind == "batch"), ""), "batch"),
    ):
        if f"--topic={topic}" not in services[name]["command"] or classes.get(topic) != kind:
            yield f"compose.yaml, {name}: writes to another topic than that of topics.requests"


def our_containers_can_do_nothing_else(files: Files) -> Iterator[str]:
    for name, service in files.compose["services"].items():
        if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
            yield f"compose.yaml, {name}: keeps capabilities or may get new ones"
        if is_ours(service["image"]) and not service.get("read_only"):
            yield f"compose.yaml, {name}: may write to its root"
        if any(not port.startswith("127.0.0.1:") for port in service.get("ports", [])):
            yield f"compose.yaml, {name}: a port is open to the network"
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            if spec.get("automountServiceAccountToken") is not False or not spec["securityContext"].get("runAsNonRoot"):
                yield f"overlay {overlay}, {pod}: has a token, or may run as root"
            for container in spec["containers"]:
                context = container.get("securityContext", {})
                if context.get("allowPrivilegeEscalation") is not False or context.get("capabilities") != {
                    "drop": ["ALL"]
                }:
                    yield f"overlay {overlay}, {pod}: keeps capabilities or may get new ones"
                if is_ours(container["image"]) and not context.get("readOnlyRootFilesystem"):
                    yield f"overlay {overlay}, {pod}: may write to its root"


def workers_can_be_scaled(files: Files) -> Iterator[str]:
    worker = files.compose["services"]["worker"]
    for member in ("container_name", "ports", "hostname"):
        if member in worker:
            yield f"compose.yaml, worker: {member} can be had by one container only"
    for overlay, objects in files.overlays.items():
        for thing in objects:
            if thing["kind"] == "ScaledObject":
                yield from (f"overlay {overlay}: {problem}" for problem in _scaling_problems(thing["spec"], objects))
                yield from (f"overlay {overlay}: {problem}" for problem in _query_problems(thing, objects))


def _query_problems(scaled: dict, objects: list[dict]) -> Iterator[str]:
    """Prometheus knows all fleets. The Operator makes a job of a PodMonitor's namespace and name, or the name of a
    ServiceMonitor's service, here the console's, whose metrics are locsearch_group_*.
    """
    namespace = scaled["metadata"].get("namespace")
    monitors = [(thing["kind"], thing["metadata"]["name"]) for thing in objects]
    jobs = {
        "PodMonitor": [f"{namespace}/{name}" for kind, name in monitors if kind == "PodMonitor"],
        "ServiceMonitor": [name for kind, name in monitors if kind == "ServiceMonitor"],
    }
    for trigger in scaled["spec"]["triggers"]:
        query = trigger["metadata"].get("query", "")
        for metric, selector in re.findall(r"(locsearch_\w+)(?:\{([^}]*)\})?", query):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', selector))
            kind = "ServiceMonitor" if metric.startswith("locsearch_group_") else "PodMonitor"
            if labels.get("namespace") != namespace or labels.get("job") not in jobs[kind]:
                yield f"the query does not name the fleet {namespace}, but {{{selector}}}"
        if "runnable_backlog" in query and "pause-intake" not in query:
            yield "the query counts a fleet whose intake is paused"


def _scaling_problems(spec: dict, objects: list[dict]) -> Iterator[str]:
    target = [
        thing
        for thing in objects
        if thing["kind"] == "Deployment" and thing["metadata"]["name"] == spec["scaleTargetRef"]["name"]
    ]
    if not target:
        yield f"the ScaledObject scales {spec['scaleTargetRef']['name']}, which is not there"
    elif "replicas" in target[0]["spec"]:
        yield "a number of replicas would undo the autoscaler's with every apply"
    down = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
    if down["stabilizationWindowSeconds"] < 300:
        yield "scales down within 300 s"
    if spec["minReplicaCount"] == 0 and not any(
        "locsearch_group_waiting" in trigger["metadata"].get("query", "") for trigger in spec["triggers"]
    ):
        yield "scales to zero by metrics that no worker reports then"
    for trigger in spec["triggers"]:
        if any(not isinstance(value, str) for value in trigger["metadata"].values()):
            yield "a trigger's metadata are texts: put numbers and booleans in quotes"
        if trigger["metadata"].get("excludePersistentLag") == "true":
            yield "excludePersistentLag scales in while a provider is down"


def probes_reach_the_admin_endpoints(files: Files) -> Iterator[str]:
    if not re.search(r"^ENV .*ADMIN_HOST=0\.0\.0\.0", files.dockerfile, re.MULTILINE):
        yield "Dockerfile: ADMIN_HOST is not 0.0.0.0, so that nothing reaches the admin endpoints"
    for overlay, objects in files.overlays.items():
        for pod, spec in pods(objects):
            if pod != "Deployment locsearch-worker":
                continue
            container = spec["containers"][0]
            ports = {port["name"] for port in container["ports"]}
            for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
                http = container.get(probe, {}).get("httpGet", {})
                if http.get("path") != path or http.get("port") not in ports:
                    yield f"overlay {overlay}: {probe} does not ask {path} at a port of the container"
            if not spec["terminationGracePeriodSeconds"] or any(
                "subPath" in mount for mount in container.get("volumeMounts", [])
            ):
                yield f"overlay {overlay}: a file mounted by subPath does not follow its Secret"


def our_services_have_health_checks(files: Files) -> Iterator[str]:
    """The image has no shell, so that a check must be a program that is in it. A one-shot needs none."""
    for name, service in files.compose["services"].items():
        if not is_ours(service["image"]) or service.get("command", [])[:2] == ["topics", "create"]:
            continue
        test = service.get("healthcheck", {}).get("test", [])
        if test[:3] != ["CMD", "locsearch", "probe"]:
            yield f"compose.yaml, {name}: its health check is not `locsearch probe`"


def load_sends_requests(files: Files) -> Iterator[str]:
    """All lines but the last are requests; the last one shows a dead letter."""
    schema = json.loads((ROOT / "schemas/request.schema.json").read_text())
    *good, bad = [json.loads(line) for line in files.texts["ops/compose/requests.jsonl"].splitlines()]
    for number, request in enumerate(good, 1):
        for error in jsonschema.Draft202012Validator(schema).iter_errors(request):
            yield f"ops/compose/requests.jsonl, line {number}: {error.message}"
    if jsonschema.Draft202012Validator(schema).is_valid(bad):
        yield "ops/compose/requests.jsonl: the last line should be no request"


RULES: list[Callable[[Files], Iterator[str]]] = [
    images_are_pinned_to_one_version,
    our_image_has_the_version_of_the_program,
    workers_have_time_to_end,
    variables_are_settings,
    settings_in_config_maps_exist,
    nothing_holds_a_secret,
    topics_are_made_by_the_command,
    our_containers_can_do_nothing_else,
    workers_can_be_scaled,
    probes_reach_the_admin_endpoints,
    our_services_have_health_checks,
    load_sends_requests,
]


def problems(files: Files) -> list[str]:
    return [problem for rule in RULES for problem in rule(files)]
