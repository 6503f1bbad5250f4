public import Basics
public import Tracing

/// One provider's API, as the domain uses it. Called concurrently.
public protocol PlaceService: Sendable {
    /// The provider whose API this is.
    var id: ProviderID { get }

    /// Returns why this provider can never serve the request, whatever its state; `nil` if it can. Makes no call.
    func refusal(of request: SearchRequest) -> SearchError?

    /// Returns how likely this provider is to have the requested places; `auto` chooses by it. Makes no call. Only called
    /// for requests that ``refusal(of:)`` accepts.
    func suitability(for request: SearchRequest) -> Suitability

    /// Returns the price class of a call. Called for each call, so it must be quick and allocate nothing.
    /// - Parameter followUp: as in ``call(for:followUp:before:)``.
    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass

    /// Makes exactly one HTTP call for a request and reads its answer.
    ///
    /// Each call is subject to the provider's limits. So a service that needs another call returns `needsCall` instead of
    /// making it, and is called again once the limits allow.
    /// - Parameter followUp: the call to make, as this service described it; `nil` for a request's first call.
    /// - Throws: the failure in the contract's terms; `timeout` once `deadline` has passed. Cancelling the task aborts the transfer.
    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply
}

/// The result of one HTTP call: the request's answer, or the next call that it needs.
public enum ProviderReply: Sendable {
    // Boxed, because replies pass through many frames.
    indirect case answer(ProviderAnswer)
    /// The answer needs another call.
    case needsCall(FollowUpCall)
}

/// A further HTTP call that a request needs: the picture of a photo that has been looked up, or a page that was not ready.
/// A class, because it passes through many async frames, each of which then copies one pointer.
public final class FollowUpCall: Sendable {
    /// The call's position within its request: 2 for the first follow-up call.
    public let number: Int
    /// The subject of the call, such as the name of a photo.
    public let subject: String?
    /// Credits from the earlier calls, which also belong to the answer.
    public let attributions: [String]
    /// The time to wait before the call, within the request's deadline.
    public let delay: Duration
    /// The failure of the request if the deadline leaves no time for the wait.
    public let failureIfLate: SearchError

    public init(
        number: Int, subject: String? = nil, attributions: [String] = [], delay: Duration = .zero,
        failureIfLate: SearchError = .timedOut
    ) {
        self.number = number
        self.subject = subject
        (self.attributions, self.delay, self.failureIfLate) = (attributions, delay, failureIfLate)
    }
}

extension PlaceService {
    /// The default for providers without a region or recognisable ids.
    public func suitability(for request: SearchRequest) -> Suitability { .possible }
}

/// The span of the current task's call, to which the HTTP transport adds what the domain does not know.
public enum CallSpan {
    /// `nil` outside a traced call.
    @TaskLocal public static var current: (any Span)?
}

/// The likelihood that a provider has the requested places. Only the providers with the greatest suitability are candidates.
public enum Suitability: Int, Sendable, Comparable {
    /// The provider would probably find nothing: it is used only if no other suits better.
    case unlikely
    /// The provider may have what is asked for.
    case possible
    /// The request has a mark of this provider, such as an id in its format: no other can serve it.
    case certain

    public static func < (left: Suitability, right: Suitability) -> Bool { left.rawValue < right.rawValue }
}

/// A provider's answer to one request, in the domain's terms. A search or a details request sets `places`, a photo request `photoURL`.
public struct ProviderAnswer: Sendable, Hashable {
    public var places: Places
    /// An https URL that needs no key. Short-lived.
    public var photoURL: String?
    /// The total number of places that the provider has, if reported.
    public var totalAvailable: Int?
    /// The provider's own token for the next page, which outcomes carry inside the worker's token; `nil` on the last page.
    public var nextPageToken: String?
    /// Credits that the provider's terms require with the data; may be HTML, must be shown unchanged.
    public var attributions: [String]
    /// The radius that the provider really searched, in metres, if it differs from the request's.
    public var radiusMeters: Double?
    /// The number of unreadable entries of the provider's list, which were left out.
    public var unreadablePlaces: Int

    public init(
        places: Places = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
        attributions: [String] = [], radiusMeters: Double? = nil, unreadablePlaces: Int = 0
    ) {
        self.places = places
        self.photoURL = photoURL
        self.totalAvailable = totalAvailable
        self.nextPageToken = nextPageToken
        (self.attributions, self.radiusMeters, self.unreadablePlaces) = (attributions, radiusMeters, unreadablePlaces)
    }
}
