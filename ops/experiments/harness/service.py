"""What a client needs around it: a broker, a provider and a worker."""

import subprocess
from collections.abc import Sequence

from harness.processes import Processes, first_line, wait_until


def start_service(program: str, processes: Processes, topics: Sequence[str] = (), **settings: str) -> str:
    """Starts an embedded broker, the simulator and a worker, and returns the broker's address once the worker is ready.

    `topics` are further topics, each as NAME:PARTITIONS. `settings` are the worker's, as environment variables.
    """
    more = [argument for topic in topics for argument in ("--topic", topic)]
    broker = processes.start(
        "broker", [program, "broker", "--partitions", "3", *more], stdout=subprocess.PIPE, text=True
    )
    bootstrap = first_line(broker)
    start_worker(program, processes, bootstrap, **settings)
    return bootstrap


def start_worker(program: str, processes: Processes, bootstrap: str, **settings: str) -> None:
    """Starts the simulator and a worker beside a broker, and returns once the worker is ready."""
    simulator = processes.start("simulator", [program, "simulate"], stdout=subprocess.PIPE, text=True)
    provider = first_line(simulator)
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": bootstrap,
        "KAFKA_PROPERTIES": "session.timeout.ms=6000",
        "ADMIN_PORT": "0",
        "HOTPEPPER_BASE_URL": provider,
        "HOTPEPPER_API_KEY": "any-text",
        "GOOGLE_PLACES_BASE_URL": provider,
        **settings,
    }
    worker = processes.start("worker", [program, "worker"], environment, stdout=subprocess.PIPE, text=True)
    readiness = first_line(worker).removeprefix("admin ") + "/readyz"
    probe = [program, "probe", readiness]
    wait_until(lambda: subprocess.run(probe, capture_output=True).returncode == 0, 40, "a worker that is ready")
