import Basics
internal import LocationSearch

/// Tells one search from another in 48 bits: the same for all pages of one search, in every process and version.
///
/// What counts is what says which places are searched for: category, location, radius, keyword, language and whether only
/// open places are wanted. Google's text search refuses a token when any of them differs, its legacy service ignores the
/// others and goes on with the first search, and Hot Pepper's token is a mere offset into whatever list it is asked for.
/// So a change would lead to an error, to places that were not asked for, or to gaps. The limit may change from page to page
/// (Google leaves the page size out of its comparison, an offset fits any size), and so may all that concerns the request
/// and not the search: id, session, timeout.
///
/// Two searches share a digest by accident once in 2.8e14 pairs. FNV-1a (Fowler, Noll, Vo) is quick and easily steered by
/// anybody who wants to, which is harmless here: see ``PageToken``.
struct SearchDigest: Hashable {
    private let bits: UInt64

    /// The digest of a search; the provider is no part of it.
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
        bits = (hash.value ^ hash.value >> 48) & Self.mask
    }

    private static let mask: UInt64 = 1 << 48 - 1

    /// Providers are asked with seven decimals (1 cm), so what differs beyond them is no other search. Adding 0 turns -0
    /// into 0.
    private static func rounded(_ degrees: Double) -> UInt64 { ((degrees * 1e7).rounded() + 0).bitPattern }

    // MARK: Text

    /// Appends eight characters, each of which may stand in a URL: the Base64 of the 48 bits.
    func append(to text: inout [UInt8]) {
        Base64.appendURLCharacters(of: bits, count: 8, to: &text)
    }

    /// Reads what ``append(to:)`` writes; `nil` when the text is no digest.
    init?(text: Substring) {
        guard text.utf8.count == 8, let bytes = Base64.decode(text, as: .url) else { return nil }
        bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A hash that is the same everywhere and for ever, as Swift's own is not.
private struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The length comes first, so that bytes cannot move from one text into the next; no text differs from an empty one.
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

    private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
