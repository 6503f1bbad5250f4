/// How likely a provider has what a request asks for. Of several, those with the greatest suitability are asked.
public enum Suitability: Int, Sendable, Comparable {
    /// The provider would find nothing, as far as can be told: it is asked only when nobody suits better.
    case unlikely
    /// Nothing speaks against it.
    case possible
    /// The request bears a mark of this provider, such as an id in its form: nobody else can serve it.
    case certain

    public static func < (left: Suitability, right: Suitability) -> Bool { left.rawValue < right.rawValue }
}
