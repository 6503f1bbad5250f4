internal import Synchronization

/// Tells whoever runs a request whether a call has been made for it: until then, giving it up costs nothing.
/// Safe to use from any thread.
public final class CallNote: Sendable {
    private let made = Atomic(false)

    public init() {}

    public var hasCalled: Bool { made.load(ordering: .relaxed) }

    func noteCall() { made.store(true, ordering: .relaxed) }
}
