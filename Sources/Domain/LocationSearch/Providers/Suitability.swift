/// The likelihood that a provider has what a request asks for. Of several, those with the greatest suitability are asked.
public enum Suitability: Int, Sendable, Comparable {
    /// The provider would find nothing, as far as can be told: it is asked only when no other suits better.
    case unlikely
    /// Nothing speaks against it.
    case possible
    /// The request bears a mark of this provider, such as an id in its form: no other can serve it.
    case certain

    public static func < (left: Suitability, right: Suitability) -> Bool { left.rawValue < right.rawValue }
}
