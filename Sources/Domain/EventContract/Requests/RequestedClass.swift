public import Basics

/// The class that a request asks for with its `priority`.
public enum RequestedClass: Sendable, Hashable {
    /// The request says nothing about it.
    case none
    case known(RequestClass)
    /// What the request says is no class. `name` is that of the member or attribute which says it.
    case unknown(name: String)

    /// Reads the text of a member or attribute of that name.
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
