// The events, as schemas/ describes them. clients/generate.py writes this file.

/** The default of the setting topics.requests. */
export const REQUESTS_TOPIC = "location-search.requests";

/** The default of the setting topics.results. */
export const RESULTS_TOPIC = "location-search.results";

/** The default of the setting topics.errors. */
export const ERRORS_TOPIC = "location-search.errors";

/** `ce_type` of the event `request`. */
export const REQUESTED = "location-search.requested.v1";

/** `ce_type` of the event `result`. */
export const COMPLETED = "location-search.completed.v1";

/** `ce_type` of the event `error`. */
export const FAILED = "location-search.failed.v1";

/** The error codes of requests that may succeed when they are sent again. */
export const RETRYABLE_CODES: ReadonlySet<string> = new Set<string>(["rate-limited", "timeout", "unreachable", "upstream-unavailable", "bad-response", "circuit-open", "internal"]);

/** A position in WGS 84, in decimal degrees. */
export interface Location {
  /** -90 to 90. */
  latitude: number;
  /** -180 to 180. */
  longitude: number;
}

/** What every Request may have. */
export interface RequestMembers {
  /**
   * Names the request in its outcome. Default: the event's ce_id, else topic-partition-offset. The error of a record
   * that cannot be read, such as invalid JSON, bears the default unless requestId stood before the fault: find its
   * request by the record's key, which is copied, or by the headers source-topic, source-partition and
   * source-offset. 1 to 128 characters.
   */
  requestId?: string | null;
  /**
   * The provider to ask. With auto, the first configured provider that can serve the request is asked. Default:
   * auto.
   */
  provider?: "google-places" | "google-places-legacy" | "hotpepper" | "auto" | null;
  /**
   * The kind of place to look for: restaurant, hospital, or a type of the provider's own. 1 to 64 characters.
   * Default: restaurant.
   */
  category?: string | null;
  /**
   * The types of which each place has at least one, instead of category. With the prefix primary:, as in
   * primary:cafe, the type is the primary one of the place; all entries have the prefix or none has. A provider that
   * cannot serve it rejects the request. 1 to 50 items. Each: 1 to 64 characters. Is not `primary:`. One of these:
   * Each: Matches `^primary:`.; or: Each: Does not match `^primary:`.
   */
  categories?: string[] | null;
  /**
   * The types that no place has, or with the prefix primary: has as its primary type. None of them is in categories
   * or is the category. 1 to 50 items. Each: 1 to 64 characters. Is not `primary:`.
   */
  excludeCategories?: string[] | null;
  /**
   * The order of the places: the nearest first, or the one that the provider ranks highest. Default: as the provider
   * does.
   */
  rankBy?: "distance" | "popularity" | null;
  /**
   * Parts of places that are requested in addition to those of the setting googlePlaces.fields. A provider may
   * charge more for them.
   */
  include?: ("businessStatus" | "openingHours")[] | null;
  /** A provider may round it; the result says what was used. 1 to 50000. Default: 1500. */
  radiusMeters?: number | null;
  /** 1 to 256 characters. */
  keyword?: string | null;
  /**
   * The language of the answer as a BCP 47 tag, such as ja or zh-TW. 1 to 35 characters. Matches
   * `^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`.
   */
  language?: string | null;
  /** If true, only places that are open now are wanted. */
  openNow?: boolean | null;
  /** The most places that are wanted. A provider that gives fewer at once gives what it can. 1 to 100. Default: 20. */
  limit?: number | null;
  /**
   * The nextPageToken of an earlier result, unchanged. It names its provider, so provider may be auto, and it
   * belongs to one search: category, categories, excludeCategories, rankBy, location, radiusMeters, keyword,
   * language and openNow must be as they were; limit and include may differ. A token of another search or provider,
   * or one that no worker gave, is an invalid-request. 1 to 4096 characters.
   */
  pageToken?: string | null;
  /** A newer search of the same session supersedes an older one. 1 to 128 characters. */
  sessionId?: string | null;
  /**
   * The time that the request allows, in milliseconds. It is worker.deadline by default, and never longer than
   * worker.maxDeadline. 1 to 60000.
   */
  timeoutMs?: number | null;
  /**
   * The class of the request: interactive where a person waits for the outcome, batch where nobody does. It counts
   * only in a topic whose entry in topics.requests names several classes; elsewhere it is ignored, whatever it is.
   * Default: the attribute priority of the event (ce_priority), else the first class that the topic's entry names.
   */
  priority?: "interactive" | "batch" | null;
}

/** The Request whose operation is absent or search. */
export interface SearchRequest extends RequestMembers {
  /**
   * search: places around a position. details: all that is known of one place. photo: the URL of a picture of one
   * place. Default: search.
   */
  operation?: "search" | null;
  /** The position to search around. It is required for a search and ignored otherwise. */
  location: Location;
  /** The id of a place of the same provider. It is required for details and photo. 1 to 512 characters. */
  placeId?: string | null;
}

/** The Request whose operation is details or photo. */
export interface PlaceRequest extends RequestMembers {
  /**
   * search: places around a position. details: all that is known of one place. photo: the URL of a picture of one
   * place. Default: search.
   */
  operation: "details" | "photo";
  /** The position to search around. It is required for a search and ignored otherwise. */
  location?: unknown;
  /** The id of a place of the same provider. It is required for details and photo. 1 to 512 characters. */
  placeId: string;
}

/**
 * The value of a record in the requests topic, or `data` of a structured CloudEvent. Unknown members are ignored,
 * and a member that is null counts as absent. Value, key and headers may each have up to worker.maxRequestBytes
 * (65536 by default). One of these: category is null.; or: categories is null.
 */
export type Request = SearchRequest | PlaceRequest;

export type Provider = "google-places" | "google-places-legacy" | "hotpepper";

/**
 * Members that are not known, and those that the worker does not ask the provider for (its settings
 * googlePlaces.fields and hotpepper.response), are absent.
 */
export interface Place {
  /**
   * The provider's id of the place, for placeId of a details or photo request to the same provider. At least 1
   * character.
   */
  id: string;
  provider: Provider;
  /** The name, or the address or id of a place whose name is not known or was not asked for. */
  name: string;
  /** The kind of place, in the provider's words. */
  category?: string;
  /** At least 1 item. */
  types?: string[];
  /** A position in WGS 84, in decimal degrees. */
  location?: Location;
  /** The distance from the position of the search, along the great circle. At least 0. */
  distanceMeters?: number;
  address?: string;
  /** Matches `^https?://`. */
  imageURL?: string;
  /** Matches `^https?://`. */
  url?: string;
  /** 0 to 5. */
  rating?: number;
  /** At least 0. */
  ratingCount?: number;
  /** The price level, from 0 (free) to 4. 0 to 4. */
  priceLevel?: number;
  openNow?: boolean;
  /** Whether the business is closed apart from its hours. Google only. */
  businessStatus?: "operational" | "closed-temporarily" | "closed-permanently";
  /**
   * The usual hours of a week, one line for each weekday, in the language of the answer, if the request's include
   * names them. Google only. At least 1 item. Each: At least 1 character.
   */
  openingHours?: string[];
}

/** What was really searched, after defaults and rounding. */
export interface SearchedArea {
  /** 1 to 64 characters. */
  category: string;
  /** A position in WGS 84, in decimal degrees. */
  location: Location;
  /** The radius that was really used; a provider may round it. More than 0. */
  radiusMeters: number;
  /**
   * The categories of the request, if it had them. The category is then the first of them, without its prefix. 1 to
   * 50 items. Each: 1 to 64 characters.
   */
  categories?: string[];
}

export interface Timing {
  /**
   * When the worker began the request. Format: date-time. Matches
   * `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`.
   */
  receivedAt: string;
  /**
   * A time in the form of RFC 3339, in UTC, with milliseconds. Format: date-time. Matches
   * `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`.
   */
  completedAt: string;
  /** The time spent waiting for providers, all attempts together, in milliseconds. At least 0. */
  upstreamMs: number;
  /**
   * The number of calls to providers that were made for this request. It is 0 if the request shared another
   * request's call, or was superseded. At least 0.
   */
  attempts: number;
}

/** The picture that a request for a photo asked for. */
export interface Photo {
  /** The URL of the picture. It is valid for a short time only and needs no API key. Matches `^https?://`. */
  imageURL: string;
}

/** What every Result may have. */
export interface ResultMembers {
  /** The requestId of the request, else its ce_id, else its position as topic-partition-offset. 1 to 128 characters. */
  requestId: string;
  /** The provider that answered. */
  provider: Provider;
  /**
   * All providers that were tried, in order, if there was more than one. A provider that is shut counts as tried,
   * although it is not called. At least 2 items.
   */
  triedProviders?: Provider[];
  /** The sessionId of the request. 1 to 128 characters. */
  sessionId?: string;
  /** The number of places that the provider has in all. At least 0. */
  totalAvailable?: number;
  /**
   * The token of the next page, for pageToken of a request for the same search. It is opaque and consists of
   * letters, digits and -._~. The last page has none. 1 to 4096 characters. Matches `^[A-Za-z0-9._~-]+$`.
   */
  nextPageToken?: string;
  /**
   * Credits that must be shown with the data, unchanged. They may be HTML. At least 1 item. Each: At least 1
   * character.
   */
  attributions?: string[];
  timing: Timing;
}

/** The Result whose operation is search. */
export interface SearchResult extends ResultMembers {
  operation: "search";
  /**
   * The places of a search in the provider's order, an empty list when nothing was found; for details, the one
   * place. At most 100 items.
   */
  places: Place[];
  /** What was really searched, after defaults and rounding. */
  search: SearchedArea;
}

/** The Result whose operation is details. */
export interface DetailsResult extends ResultMembers {
  operation: "details";
  /**
   * The places of a search in the provider's order, an empty list when nothing was found; for details, the one
   * place. 1 to 1 item.
   */
  places: Place[];
}

/** The Result whose operation is photo. */
export interface PhotoResult extends ResultMembers {
  operation: "photo";
  /** The picture that a request for a photo asked for. */
  photo: Photo;
}

/**
 * The value of a record in the results topic. Members that are not known are left out, never null. A later version
 * may add members, so a reader must ignore what it does not know. This schema lists all that this version has, so
 * that a misspelt one is found.
 */
export type Result = SearchResult | DetailsResult | PhotoResult;

/** What every Failure may have. */
export interface FailureMembers {
  /**
   * One line for a person that says what to do. It holds no API key and no bytes of the record. At least 1
   * character.
   */
  message: string;
  /** The time to wait before asking again, in milliseconds. At least 1. */
  retryAfterMs?: number;
  /** The HTTP status of the provider's answer. 100 to 599. */
  httpStatus?: number;
  /** The provider's own name of the failure. At least 1 character. */
  providerStatus?: string;
  /**
   * What is at fault: a member of the request (location.latitude), an attribute or header of its event (ce_type), or
   * value, the record as a whole. At least 1 character.
   */
  member?: string;
  /**
   * The limit of the worker that left no call for the request: rate (requestsPerSecond), concurrency (the calls that
   * may be under way, fewer while the provider answers slowly), budget (callsPerDay, budgets), or queue (so many
   * requests of its class and tenant wait before it). Missing where the provider itself refused.
   */
  limit?: "rate" | "concurrency" | "budget" | "queue";
  /**
   * The account of the budget that allows no call: a provider, and the price class, month and currency that the
   * budget is limited to, such as google-places/text-search-pro/month. Present with opensAt. At least 1 character.
   */
  account?: string;
  /**
   * The time at which the next day or month of that budget begins. Calls may be possible sooner. Format: date-time.
   * Matches `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`.
   */
  opensAt?: string;
}

/** The Failure whose code is invalid-request, unauthorized, not-found, upstream-rejected, superseded or expired. */
export interface FinalFailure extends FailureMembers {
  code: "invalid-request" | "unauthorized" | "not-found" | "upstream-rejected" | "superseded" | "expired";
  /** Whether the same request may succeed later. */
  retryable: false;
}

/**
 * The Failure whose code is rate-limited, timeout, unreachable, upstream-unavailable, bad-response, circuit-open or
 * internal.
 */
export interface RetryableFailure extends FailureMembers {
  code: "rate-limited" | "timeout" | "unreachable" | "upstream-unavailable" | "bad-response" | "circuit-open" | "internal";
  /** Whether the same request may succeed later. */
  retryable: true;
}

export type Failure = FinalFailure | RetryableFailure;

/**
 * The value of a record in the errors topic. Members that are not known are left out, never null. When the record
 * could not be read as a request, operation, provider and sessionId may be missing. A later version may add members
 * and codes; this schema lists all that this version has.
 */
export interface ErrorEvent {
  /**
   * The requestId of the request, else its ce_id, else its position as topic-partition-offset. When the record could
   * not be read, such as invalid JSON, it is one of the latter two unless requestId stood before the fault. Find the
   * request by the key of the record, which is copied, or by the headers source-topic, source-partition and
   * source-offset. 1 to 128 characters.
   */
  requestId: string;
  operation?: "search" | "details" | "photo";
  /** The provider that failed, or the one that the request names. */
  provider?: Provider;
  /**
   * All providers that were tried, in order, if there was more than one. A provider that is shut counts as tried,
   * although it is not called. At least 2 items.
   */
  triedProviders?: Provider[];
  /** The sessionId of the request. 1 to 128 characters. */
  sessionId?: string;
  error: Failure;
  timing: Timing;
}
