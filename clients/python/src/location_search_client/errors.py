"""What the client raises."""

from confluent_kafka import KafkaError, KafkaException


class OutcomeTimeout(TimeoutError):
    """No outcome arrived in time. The request has expired, so a worker that reads it later asks no provider."""


class Superseded(Exception):
    """A newer search of the same session was sent, so nobody needs this outcome any more."""


class ClientClosed(Exception):
    """The client was closed, or its connection failed for good, before the outcome arrived."""


class BrokersUnreachable(KafkaException):
    """No broker answered while the client connected. `args[0]` is librdkafka's error."""

    def __init__(self, servers: str, error: KafkaError, reason: str):
        super().__init__(error)
        self._text = (
            f"the brokers at {servers} do not answer ({reason}): check the address, that the brokers run, and that "
            "`settings` has the security.protocol and the credentials that they expect"
        )

    def __str__(self) -> str:
        return self._text
