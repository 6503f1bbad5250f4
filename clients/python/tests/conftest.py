import os
from collections.abc import Iterator

import pytest
from location_search_client import SearchClient


@pytest.fixture(scope="session")
def bootstrap() -> str:
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    assert servers, "no broker: run make test-clients"
    return servers


@pytest.fixture(scope="session")
def client(bootstrap: str) -> Iterator[SearchClient]:
    with SearchClient(bootstrap, source="/client-tests") as client:
        yield client
