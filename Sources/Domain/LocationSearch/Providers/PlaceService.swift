public import Basics

/// One provider's API, as the domain sees it. Called concurrently.
public protocol PlaceService: Sendable {
    /// The provider whose API this is.
    var id: ProviderID { get }

    /// Returns why this provider can never serve the request, whatever its state, and `nil` when it can. Makes no call.
    func refusal(of request: SearchRequest) -> SearchError?

    /// Returns how likely this provider has what the request asks for, for `auto` to choose by. Makes no call, and is
    /// asked only about requests that ``refusal(of:)`` lets pass.
    func suitability(for request: SearchRequest) -> Suitability

    /// Returns what the provider charges a call as. Asked for each call, so that it must be quick and allocate nothing.
    /// - Parameter followUp: as in ``call(for:followUp:before:)``.
    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass

    /// Makes exactly one HTTP call for a request and reads its answer.
    ///
    /// Each call passes the provider's limits on its own. A service whose request needs another call therefore returns
    /// `needsCall` instead of making it, and is called again once the limits allow.
    /// - Parameter followUp: the call to make, as this service described it; `nil` for a request's first call.
    /// - Throws: the failure in the contract's terms; `timeout` once `deadline` has passed. Cancelling the task aborts
    ///   the transfer.
    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply
}

/// The result of one HTTP call: the request's answer, or the call that must follow.
public enum ProviderReply: Sendable {
    // Boxed, because replies pass through many frames.
    indirect case answer(ProviderAnswer)
    /// The answer needs another call.
    case needsCall(FollowUpCall)
}

/// A further HTTP call that a request needs: the picture of a photo that has been looked up, or a page that was not ready.
/// A class, because it passes through many async frames, each of which then copies one pointer.
public final class FollowUpCall: Sendable {
    /// The call's position within its request: 2 for the first that follows.
    public let number: Int
    /// The subject of the call, such as the name of a photo.
    public let subject: String?
    /// Credits of the calls before, which belong to the answer as well.
    public let attributions: [String]
    /// Time to wait before the call, spent from the request's deadline.
    public let delay: Duration
    /// The failure of the request when the deadline leaves no time for the wait.
    public let failureIfLate: SearchError

    /// Describes a call that follows another one.
    public init(
        number: Int, subject: String? = nil, attributions: [String] = [], delay: Duration = .zero,
        failureIfLate: SearchError = .timedOut
    ) {
        self.number = number
        self.subject = subject
        self.attributions = attributions
        self.delay = delay
        self.failureIfLate = failureIfLate
    }
}

extension PlaceService {
    /// A provider without regions or recognisable ids of its own may have anything.
    public func suitability(for request: SearchRequest) -> Suitability { .possible }
}
