import Basics

/// The texts that the provider's terms require with an answer, without duplicates, in their original order.
struct Credits {
    private(set) var texts: [String]
    private var known: Set<ExactText>

    /// - Parameter source: the provider's own credit, which is always the first.
    init(_ source: String) {
        texts = [source]
        known = [ExactText(source)]
    }

    mutating func add(_ text: String) {
        if known.insert(ExactText(text)).inserted { texts.append(text) }
    }
}
