"""The events, as schemas/ describes them. clients/generate.py writes this file."""

from typing import Final, Literal, NotRequired, TypedDict

REQUESTS_TOPIC: Final = "location-search.requests"
"""The default of the setting topics.requests."""

RESULTS_TOPIC: Final = "location-search.results"
"""The default of the setting topics.results."""

ERRORS_TOPIC: Final = "location-search.errors"
"""The default of the setting topics.errors."""

REQUESTED: Final = "location-search.requested.v1"
"""`ce_type` of the event `request`."""

COMPLETED: Final = "location-search.completed.v1"
"""`ce_type` of the event `result`."""

FAILED: Final = "location-search.failed.v1"
"""`ce_type` of the event `error`."""

RETRYABLE_CODES: Final = frozenset(
    ["rate-limited", "timeout", "unreachable", "upstream-unavailable", "bad-response", "circuit-open", "internal"]
)
"""The error codes of requests that may succeed when they are sent again."""


class Location(TypedDict):
    """A position in WGS 84, in decimal degrees."""

    latitude: float
    """-90 to 90."""

    longitude: float
    """-180 to 180."""


class RequestMembers(TypedDict):
    """What every Request may have."""

    requestId: NotRequired[str | None]
    """Names the request in its outcome. Default: the event's ce_id, else topic-partition-offset. The error of a record
    that cannot be read, such as invalid JSON, bears the default unless requestId stood before the fault: find its
    request by the record's key, which is copied, or by the headers source-topic, source-partition and source-offset.
    1 to 128 characters.
    """

    provider: NotRequired[Literal["google-places", "google-places-legacy", "hotpepper", "auto"] | None]
    """The provider to ask. With auto, the first configured provider that can serve the request is asked. Default: auto.
    """

    category: NotRequired[str | None]
    """The kind of place to look for: restaurant, hospital, or a type of the provider's own. 1 to 64 characters.
    Default: restaurant.
    """

    categories: NotRequired[list[str] | None]
    """The types of which each place has at least one, instead of category. With the prefix primary:, as in
    primary:cafe, the type is the primary one of the place; all entries have the prefix or none has. A provider that
    cannot serve it rejects the request. 1 to 50 items. Each: 1 to 64 characters. Is not `primary:`. One of these:
    Each: Matches `^primary:`.; or: Each: Does not match `^primary:`.
    """

    excludeCategories: NotRequired[list[str] | None]
    """The types that no place has, or with the prefix primary: has as its primary type. None of them is in categories
    or is the category. 1 to 50 items. Each: 1 to 64 characters. Is not `primary:`.
    """

    rankBy: NotRequired[Literal["distance", "popularity"] | None]
    """The order of the places: the nearest first, or the one that the provider ranks highest. Default: as the provider
    does.
    """

    include: NotRequired[list[Literal["businessStatus", "openingHours"]] | None]
    """Parts of places that are requested in addition to those of the setting googlePlaces.fields. A provider may charge
    more for them.
    """

    radiusMeters: NotRequired[float | None]
    """A provider may round it; the result says what was used. 1 to 50000. Default: 1500."""

    keyword: NotRequired[str | None]
    """1 to 256 characters."""

    language: NotRequired[str | None]
    """The language of the answer as a BCP 47 tag, such as ja or zh-TW. 1 to 35 characters. Matches
    `^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`.
    """

    openNow: NotRequired[bool | None]
    """If true, only places that are open now are wanted."""

    limit: NotRequired[int | None]
    """The most places that are wanted. A provider that gives fewer at once gives what it can. 1 to 100. Default: 20."""

    pageToken: NotRequired[str | None]
    """The nextPageToken of an earlier result, unchanged. It names its provider, so provider may be auto, and it belongs
    to one search: category, categories, excludeCategories, rankBy, location, radiusMeters, keyword, language and
    openNow must be as they were; limit and include may differ. A token of another search or provider, or one that no
    worker gave, is an invalid-request. 1 to 4096 characters.
    """

    sessionId: NotRequired[str | None]
    """A newer search of the same session supersedes an older one. 1 to 128 characters."""

    timeoutMs: NotRequired[int | None]
    """The time that the request allows, in milliseconds. It is worker.deadline by default, and never longer than
    worker.maxDeadline. 1 to 60000.
    """

    priority: NotRequired[Literal["interactive", "batch"] | None]
    """The class of the request: interactive where a person waits for the outcome, batch where nobody does. It counts
    only in a topic whose entry in topics.requests names several classes; elsewhere it is ignored, whatever it is.
    Default: the attribute priority of the event (ce_priority), else the first class that the topic's entry names.
    """


class SearchRequest(RequestMembers):
    """The Request whose operation is absent or search."""

    operation: NotRequired[Literal["search"] | None]
    """search: places around a position. details: all that is known of one place. photo: the URL of a picture of one
    place. Default: search.
    """

    location: Location
    """The position to search around. It is required for a search and ignored otherwise."""

    placeId: NotRequired[str | None]
    """The id of a place of the same provider. It is required for details and photo. 1 to 512 characters."""


class PlaceRequest(RequestMembers):
    """The Request whose operation is details or photo."""

    operation: Literal["details", "photo"]
    """search: places around a position. details: all that is known of one place. photo: the URL of a picture of one
    place. Default: search.
    """

    location: NotRequired[object]
    """The position to search around. It is required for a search and ignored otherwise."""

    placeId: str
    """The id of a place of the same provider. It is required for details and photo. 1 to 512 characters."""


Request = SearchRequest | PlaceRequest
"""The value of a record in the requests topic, or `data` of a structured CloudEvent. Unknown members are ignored, and a
member that is null counts as absent. Value, key and headers may each have up to worker.maxRequestBytes (65536 by
default). One of these: category is null.; or: categories is null.
"""


Provider = Literal["google-places", "google-places-legacy", "hotpepper"]


class Place(TypedDict):
    """Members that are not known, and those that the worker does not ask the provider for (its settings
    googlePlaces.fields and hotpepper.response), are absent.
    """

    id: str
    """The provider's id of the place, for placeId of a details or photo request to the same provider. At least 1
    character.
    """

    provider: Provider

    name: str
    """The name, or the address or id of a place whose name is not known or was not asked for."""

    category: NotRequired[str]
    """The kind of place, in the provider's words."""

    types: NotRequired[list[str]]
    """At least 1 item."""

    location: NotRequired[Location]
    """A position in WGS 84, in decimal degrees."""

    distanceMeters: NotRequired[int]
    """The distance from the position of the search, along the great circle. At least 0."""

    address: NotRequired[str]

    imageURL: NotRequired[str]
    """Matches `^https?://`."""

    url: NotRequired[str]
    """Matches `^https?://`."""

    rating: NotRequired[float]
    """0 to 5."""

    ratingCount: NotRequired[int]
    """At least 0."""

    priceLevel: NotRequired[int]
    """The price level, from 0 (free) to 4. 0 to 4."""

    openNow: NotRequired[bool]

    businessStatus: NotRequired[Literal["operational", "closed-temporarily", "closed-permanently"]]
    """Whether the business is closed apart from its hours. Google only."""

    openingHours: NotRequired[list[str]]
    """The usual hours of a week, one line for each weekday, in the language of the answer, if the request's include
    names them. Google only. At least 1 item. Each: At least 1 character.
    """


class SearchedArea(TypedDict):
    """What was really searched, after defaults and rounding."""

    category: str
    """1 to 64 characters."""

    location: Location
    """A position in WGS 84, in decimal degrees."""

    radiusMeters: float
    """The radius that was really used; a provider may round it. More than 0."""

    categories: NotRequired[list[str]]
    """The categories of the request, if it had them. The category is then the first of them, without its prefix. 1 to
    50 items. Each: 1 to 64 characters.
    """


class Timing(TypedDict):
    receivedAt: str
    """When the worker began the request. Format: date-time. Matches
    `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$`.
    """

    completedAt: str
    """A time in the form of RFC 3339, in UTC, with milliseconds. Format: date-time. Matches
    `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$`.
    """

    upstreamMs: int
    """The time spent waiting for providers, all attempts together, in milliseconds. At least 0."""

    attempts: int
    """The number of calls to providers that were made for this request. It is 0 if the request shared another request's
    call, or was superseded. At least 0.
    """


class Photo(TypedDict):
    """The picture that a request for a photo asked for."""

    imageURL: str
    """The URL of the picture. It is valid for a short time only and needs no API key. Matches `^https?://`."""


class ResultMembers(TypedDict):
    """What every Result may have."""

    requestId: str
    """The requestId of the request, else its ce_id, else its position as topic-partition-offset. 1 to 128 characters.
    """

    provider: Provider
    """The provider that answered."""

    triedProviders: NotRequired[list[Provider]]
    """All providers that were tried, in order, if there was more than one. A provider that is shut counts as tried,
    although it is not called. At least 2 items.
    """

    sessionId: NotRequired[str]
    """The sessionId of the request. 1 to 128 characters."""

    totalAvailable: NotRequired[int]
    """The number of places that the provider has in all. At least 0."""

    nextPageToken: NotRequired[str]
    """The token of the next page, for pageToken of a request for the same search. It is opaque and consists of letters,
    digits and -._~. The last page has none. 1 to 4096 characters. Matches `^[A-Za-z0-9._~-]+$`.
    """

    attributions: NotRequired[list[str]]
    """Credits that must be shown with the data, unchanged. They may be HTML. At least 1 item. Each: At least 1
    character.
    """

    timing: Timing


class SearchResult(ResultMembers):
    """The Result whose operation is search."""

    operation: Literal["search"]

    places: list[Place]
    """The places of a search in the provider's order, an empty list when nothing was found; for details, the one place.
    At most 100 items.
    """

    search: SearchedArea
    """What was really searched, after defaults and rounding."""


class DetailsResult(ResultMembers):
    """The Result whose operation is details."""

    operation: Literal["details"]

    places: list[Place]
    """The places of a search in the provider's order, an empty list when nothing was found; for details, the one place.
    1 to 1 item.
    """


class PhotoResult(ResultMembers):
    """The Result whose operation is photo."""

    operation: Literal["photo"]

    photo: Photo
    """The picture that a request for a photo asked for."""


Result = SearchResult | DetailsResult | PhotoResult
"""The value of a record in the results topic. Members that are not known are left out, never null. A later version may
add members, so a reader must ignore what it does not know. This schema lists all that this version has, so that a
misspelt one is found.
"""


class FailureMembers(TypedDict):
    """What every Failure may have."""

    message: str
    """One line for a person that says what to do. It holds no API key and no bytes of the record. At least 1 character.
    """

    retryAfterMs: NotRequired[int]
    """The time to wait before asking again, in milliseconds. At least 1."""

    httpStatus: NotRequired[int]
    """The HTTP status of the provider's answer. 100 to 599."""

    providerStatus: NotRequired[str]
    """The provider's own name of the failure. At least 1 character."""

    member: NotRequired[str]
    """What is at fault: a member of the request (location.latitude), an attribute or header of its event (ce_type), or
    value, the record as a whole. At least 1 character.
    """

    limit: NotRequired[Literal["rate", "concurrency", "budget", "queue"]]
    """The limit of the worker that left no call for the request: rate (requestsPerSecond), concurrency (the calls that
    may be under way, fewer while the provider answers slowly), budget (callsPerDay, budgets), or queue (so many
    requests of its class and tenant wait before it). Missing where the provider itself refused.
    """

    account: NotRequired[str]
    """The account of the budget that allows no call: a provider, and the price class, month and currency that the
    budget is limited to, such as google-places/text-search-pro/month. Present with opensAt. At least 1 character.
    """

    opensAt: NotRequired[str]
    """The time at which the next day or month of that budget begins. Calls may be possible sooner. Format: date-time.
    Matches `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$`.
    """


class FinalFailure(FailureMembers):
    """The Failure whose code is invalid-request, unauthorized, not-found, upstream-rejected, superseded or expired."""

    code: Literal["invalid-request", "unauthorized", "not-found", "upstream-rejected", "superseded", "expired"]

    retryable: Literal[False]
    """Whether the same request may succeed later."""


class RetryableFailure(FailureMembers):
    """The Failure whose code is rate-limited, timeout, unreachable, upstream-unavailable, bad-response, circuit-open or
    internal.
    """

    code: Literal[
        "rate-limited", "timeout", "unreachable", "upstream-unavailable", "bad-response", "circuit-open", "internal"
    ]

    retryable: Literal[True]
    """Whether the same request may succeed later."""


Failure = FinalFailure | RetryableFailure


class ErrorEvent(TypedDict):
    """The value of a record in the errors topic. Members that are not known are left out, never null. When the record
    could not be read as a request, operation, provider and sessionId may be missing. A later version may add members
    and codes; this schema lists all that this version has.
    """

    requestId: str
    """The requestId of the request, else its ce_id, else its position as topic-partition-offset. When the record could
    not be read, such as invalid JSON, it is one of the latter two unless requestId stood before the fault. Find the
    request by the key of the record, which is copied, or by the headers source-topic, source-partition and
    source-offset. 1 to 128 characters.
    """

    operation: NotRequired[Literal["search", "details", "photo"]]

    provider: NotRequired[Provider]
    """The provider that failed, or the one that the request names."""

    triedProviders: NotRequired[list[Provider]]
    """All providers that were tried, in order, if there was more than one. A provider that is shut counts as tried,
    although it is not called. At least 2 items.
    """

    sessionId: NotRequired[str]
    """The sessionId of the request. 1 to 128 characters."""

    error: Failure

    timing: Timing
