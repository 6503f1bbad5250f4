public import Basics
public import Tracing

/// Called once with the result of a call that ``PlaceService/begin(_:followUp:before:then:)`` began.
public typealias ProviderCompletion = @Sendable (Result<ProviderReply, SearchError>) -> Void

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
    /// - Parameter followUp: as in ``begin(_:followUp:before:then:)``.
    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass

    /// Begins exactly one HTTP call for a request, whose answer it reads.
    ///
    /// Each call is subject to the provider's limits. So a service that needs another call returns `needsCall` instead of
    /// making it, and is called again once the limits allow.
    /// - Parameter followUp: the call to make, as this service described it; `nil` for a request's first call.
    /// - Parameter end: called once on the caller's loop, possibly before this function returns. A failure is in the
    ///   contract's terms: `timeout` once `deadline` has passed.
    /// - Returns: the call, for aborting it; `nil` if it has ended.
    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)?
}

/// The result of one HTTP call: the request's answer, or the next call that it needs.
public enum ProviderReply: Sendable {
    case answer(ProviderAnswer)
    /// The answer needs another call.
    case needsCall(FollowUpCall)
}

/// A further HTTP call that a request needs: the picture of a photo that has been looked up, or a page that was not ready.
/// A class, so that passing it on copies one pointer.
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
    /// Makes one HTTP call for a request, and waits for its end: `begin` for tasks. Cancelling the task does not end it.
    /// - Throws: the failure in the contract's terms.
    package func call(
        for request: SearchRequest, followUp: FollowUpCall? = nil, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        try await withCheckedContinuation { task in
            _ = begin(request, followUp: followUp, before: deadline) { task.resume(returning: $0) }
        }.get()
    }

    /// The default for providers without a region or recognisable ids.
    public func suitability(for request: SearchRequest) -> Suitability { .possible }
}

/// The span of the call that is being begun, to which the HTTP transport adds what the domain does not know.
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
    private struct Contents: Sendable, Hashable {
        var places: Places
        var photoURL: String?
        var totalAvailable: Int?
        var nextPageToken: String?
        var attributions: [String]
        var radiusMeters: Double?
        var unreadablePlaces: Int
    }

    // Boxed, because an answer passes through many functions.
    @Boxed private var contents: Contents

    public init(
        places: Places = [], photoURL: String? = nil, totalAvailable: Int? = nil, nextPageToken: String? = nil,
        attributions: [String] = [], radiusMeters: Double? = nil, unreadablePlaces: Int = 0
    ) {
        _contents = Boxed(
            wrappedValue: Contents(
                places: places, photoURL: photoURL, totalAvailable: totalAvailable, nextPageToken: nextPageToken,
                attributions: attributions, radiusMeters: radiusMeters, unreadablePlaces: unreadablePlaces))
    }

    /// The places in the provider's order; empty for a photo.
    public var places: Places {
        get { contents.places }
        set { contents.places = newValue }
    }
    /// An https URL that needs no key. Short-lived.
    public var photoURL: String? { contents.photoURL }
    /// The total number of places that the provider has, if reported.
    public var totalAvailable: Int? { contents.totalAvailable }
    /// The provider's own token for the next page, which outcomes carry inside the worker's token; `nil` on the last page.
    public var nextPageToken: String? {
        get { contents.nextPageToken }
        set { contents.nextPageToken = newValue }
    }
    /// Credits that the provider's terms require with the data; may be HTML, must be shown unchanged.
    public var attributions: [String] { contents.attributions }
    /// The radius that the provider really searched, in metres, if it differs from the request's.
    public var radiusMeters: Double? { contents.radiusMeters }
    /// The number of unreadable entries of the provider's list, which were left out.
    public var unreadablePlaces: Int { contents.unreadablePlaces }
}
