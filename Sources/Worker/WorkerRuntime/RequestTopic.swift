public import Basics

/// A topic that requests are read from, and the classes that its requests may have: an entry of `topics.requests`.
public struct RequestTopic: Sendable, Hashable {
    public var name: String
    /// The class of a request that does not choose one. With one class for a topic, what its requests say is ignored.
    public var standardClass: RequestClass
    /// The classes that a request of the topic may choose with its `priority`; `standardClass` is among them.
    public var classes: Set<RequestClass>

    /// - Parameter classes: the first is the standard one. Empty: interactive alone.
    public init(_ name: String, classes: [RequestClass] = [.interactive]) {
        self.name = name
        standardClass = classes.first ?? .interactive
        self.classes = Set(classes).union([standardClass])
    }
}
