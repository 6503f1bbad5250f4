"""A typed client of location-search-worker: send a request, await its outcome. See README.md."""

from location_search_client.client import SearchClient, Topics
from location_search_client.errors import BrokersUnreachable, ClientClosed, OutcomeTimeout, Superseded
from location_search_client.events import (
    RETRYABLE_CODES,
    DetailsResult,
    ErrorEvent,
    Failure,
    FinalFailure,
    Location,
    PhotoResult,
    Place,
    PlaceRequest,
    Request,
    Result,
    RetryableFailure,
    SearchRequest,
    SearchResult,
)
from location_search_client.records import (
    Completed,
    Deduplicator,
    Failed,
    Outcome,
    Position,
    RequestRecord,
    decode_outcome,
    encode_request,
    retry_delay,
)

__version__ = "0.1.0"

__all__ = [
    "RETRYABLE_CODES",
    "BrokersUnreachable",
    "ClientClosed",
    "Completed",
    "Deduplicator",
    "DetailsResult",
    "ErrorEvent",
    "Failed",
    "Failure",
    "FinalFailure",
    "Location",
    "Outcome",
    "OutcomeTimeout",
    "PhotoResult",
    "Place",
    "PlaceRequest",
    "Position",
    "Request",
    "RequestRecord",
    "Result",
    "RetryableFailure",
    "SearchClient",
    "SearchRequest",
    "SearchResult",
    "Superseded",
    "Topics",
    "decode_outcome",
    "encode_request",
    "retry_delay",
]
