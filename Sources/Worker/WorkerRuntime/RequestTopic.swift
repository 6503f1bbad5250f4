public import Basics

/// A topic from which requests are read, and the classes of its requests: an entry of `topics.requests`.
public struct RequestTopic: Sendable, Hashable {
    public var name: String
    /// The class of a request that does not choose one. If the topic has only one class, the choice of a request is
    /// ignored.
    public var standardClass: RequestClass
    /// The classes that a request of the topic may choose with its `priority`, including `standardClass`.
    public var classes: Set<RequestClass>

    /// - Parameter classes: the first is the standard class. Empty: only interactive.
    public init(_ name: String, classes: [RequestClass] = [.interactive]) {
        self.name = name
        standardClass = classes.first ?? .interactive
        self.classes = Set(classes).union([standardClass])
    }
}
