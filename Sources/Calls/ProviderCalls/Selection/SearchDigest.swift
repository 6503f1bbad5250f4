import Basics
internal import LocationSearch

/// A 48-bit digest that identifies a search: the same for all pages of the search, in every process and version.
///
/// It covers categories, location, radius, keyword, language, order, and whether only open places are wanted. Google's text search
/// refuses a token if any of them differs. Its legacy service ignores them and continues the first search. Hot Pepper's
/// token is only an offset into any list. So a change would lead to an error, to unrelated places or to gaps.
///
/// The limit may change from page to page: Google ignores the page size in its comparison, and an offset fits any size.
/// Members that concern the request and not the search may change too: id, session, timeout, `include`.
///
/// Two searches share a digest by accident once in 2.8e14 pairs. FNV-1a (Fowler, Noll, Vo) is quick and easy to forge,
/// which is harmless here: see ``PageToken``.
struct SearchDigest: Hashable {
    private let bits: UInt64

    /// The digest of a search; the provider is not part of it.
    init(of search: borrowing SearchRequest) {
        var hash = FNV1a()
        hash.add(search.category)
        hash.add(search.keyword)
        hash.add(search.language)
        hash.add(search.openNow == true ? 1 : 0)
        hash.add(search.radiusMeters.bitPattern)
        if let location = search.location {
            hash.add(Self.rounded(location.latitude))
            hash.add(Self.rounded(location.longitude))
        }
        if search.hasOptions { hash.add(search.options) }
        bits = (hash.value ^ hash.value >> 48) & Self.mask
    }

    private static let mask: UInt64 = 1 << 48 - 1

    /// Providers receive seven decimals (1 cm), so smaller differences do not matter. Adding 0 turns -0 into 0.
    private static func rounded(_ degrees: Double) -> UInt64 { ((degrees * 1e7).rounded() + 0).bitPattern }

    // MARK: Text

    /// Appends eight URL-safe characters: the Base64 of the 48 bits.
    func append(to text: inout [UInt8]) {
        Base64.appendURLCharacters(of: bits, count: 8, to: &text)
    }

    /// Reads what ``append(to:)`` writes; `nil` if the text is not a digest.
    init?(text: Substring) {
        guard text.utf8.count == 8, let bytes = Base64.decode(text, as: .url) else { return nil }
        bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A hash that is the same in every process and version, unlike Swift's `Hasher`.
private struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The length comes first, so that bytes cannot move from one text to the next, and a missing text differs from an empty one.
    mutating func add(_ text: String?) {
        guard let text else { return add(.max) }
        let bytes = text.utf8.span
        add(UInt64(bytes.count))
        for index in bytes.indices { add(byte: bytes[index]) }
    }

    mutating func add(_ number: UInt64) {
        var rest = number
        for _ in 0..<8 {
            add(byte: UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Adds nothing for a search without these members, so that tokens from before they existed stay valid.
    mutating func add(_ options: SearchOptions) {
        guard !options.categories.isEmpty || !options.excludedCategories.isEmpty || options.ranking != nil else {
            return
        }
        for list in [options.categories, options.excludedCategories] {
            add(UInt64(list.count))
            for category in list { add(category) }
        }
        add(options.ranking?.rawValue)
    }

    private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
