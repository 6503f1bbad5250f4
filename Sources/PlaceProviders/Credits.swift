/// What an answer's terms ask to show with it: each text once, in the order they came.
struct Credits {
    private(set) var texts: [String]
    private var known: Set<String>

    /// - Parameter source: the provider's own, always first.
    init(_ source: String) {
        texts = [source]
        known = [source]
    }

    mutating func add(_ text: String) {
        if known.insert(text).inserted { texts.append(text) }
    }
}
