import Basics

/// Tells one search from another in 48 bits: the same for all pages of one search, in every process and version.
///
/// What counts is what says which places are searched for: category, location, radius, keyword, language and whether only
/// open places are wanted. Google's text search refuses a token when any of them differs, its legacy service ignores the
/// others and goes on with the first search, and Hot Pepper's token is a mere offset into whatever list it is asked for.
/// So a change would lead to an error, to places nobody asked for now, or to gaps. The limit may change from page to page
/// (Google leaves the page size out of its comparison, an offset fits any size), and so may all that concerns the request
/// and not the search: id, session, timeout.
///
/// Two searches share a digest by accident once in 2.8e14 pairs. FNV-1a (Fowler, Noll, Vo) is quick and easily steered by
/// whoever wants to, which is harmless here: see ``PageToken``.
struct SearchDigest: Hashable {
    private let bits: UInt64

    /// The digest of a search; the provider is no part of it.
    init(of search: SearchRequest) {
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

    /// Eight characters, each of which may stand in a URL.
    var text: String {
        let bytes = [40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
        return Base64.encode(bytes, .url)
    }

    /// Reads what ``text`` writes; `nil` when the text is no digest.
    init?(text: Substring) {
        guard text.utf8.count == 8, let bytes = Base64.decode(text.utf8, .url) else { return nil }
        bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A hash that is the same everywhere and for ever, as Swift's own is not.
private struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The length comes first, so that bytes cannot move from one text into the next; no text differs from an empty one.
    mutating func add(_ text: String?) {
        add(text.map { UInt64($0.utf8.count) } ?? .max)
        for byte in (text ?? "").utf8 { add(byte: byte) }
    }

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
