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
