"""What the model of Kafka answers is asked of a cluster, step by step."""

from harness import brokers, conformance
from harness.lab import Experiment, Lab


def kind_of(lab: Lab, cluster: conformance.Cluster) -> str:
    """Says which steps the brokers can do: the mock cluster of librdkafka few, and KIP-848 needs Kafka 4."""
    if lab.broker.kind != "external":
        return "embedded"
    return "kafka 4" if cluster.speaks(conformance.CONSUMER_HEARTBEAT, 0) else "kafka"


def run(lab: Lab) -> None:
    lab.broker = brokers.start(lab.options.broker or "embedded", lab.processes, lab.options.locsearch)
    if lab.broker.can_fail:
        # The brokers make topics of the cluster's default size when they are asked for.
        lab.broker.create_topics({"conformance": 1})
    cluster = conformance.Cluster(lab.broker.bootstrap)
    player = conformance.Player(cluster, kind_of(lab, cluster), lab.say)
    player.play(conformance.scenarios())
    cluster.close()

    lab.figure("brokers", player.kind)
    lab.figure("steps played", player.played)
    lab.figure("steps left out", player.skipped)
    if player.epoch_check:
        lab.figure("member epochs are compared", player.epoch_check)
    lab.violations += player.differences
    lab.check(player.played > 10, "hardly any step was played")


EXPERIMENTS = [
    Experiment(
        "conformance",
        "the steps by which the model of Kafka is checked, played to a cluster: each answer is the expected one",
        run,
        seconds=(300, 300),
    )
]
