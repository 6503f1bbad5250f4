public import Basics

/// The class in a request's `priority`.
public enum RequestedClass: Sendable, Hashable {
    /// The request has no `priority`.
    case none
    case known(RequestClass)
    /// The request's `priority` is not a class. `name` is the name of the member or attribute.
    case unknown(name: String)

    /// Reads the text of the member or attribute with this name.
    init(_ text: borrowing Span<UInt8>, name: String) {
        let known = RequestClass.allCases.first { text.isEqual(to: $0.rawValue) }
        self = known.map(Self.known) ?? .unknown(name: name)
    }
}

extension Span<UInt8> {
    fileprivate func isEqual(to text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in 0..<count where self[index] != other[index] { return false }
        return true
    }
}
