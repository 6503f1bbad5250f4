internal import Basics

/// A page token of a text search: the position at which the search continues, and the search to which it belongs.
struct GooglePlacesPageToken {
    /// The number of places on earlier pages.
    let offset: Int
    /// The fingerprint of the search (`GooglePlacesSearchBody`).
    let fingerprint: UInt64

    init(offset: Int, fingerprint: UInt64) {
        (self.offset, self.fingerprint) = (offset, fingerprint)
    }

    /// Parses a token; `nil` if it is damaged or comes from another world.
    init?(_ text: String, seed: UInt64) {
        guard text.utf8.count < 1000, let bytes = Base64.decode(text, as: .url), bytes.count == 28 else { return nil }
        (offset, fingerprint) = (Int(bytes[3]), UInt64(bytes: bytes[4..<12]))
        guard offset < 60, self.text(seed: seed) == text else { return nil }
    }

    /// Returns the token as text.
    func text(seed: UInt64) -> String {
        let check = mixed(fingerprint ^ seed ^ UInt64(offset) << 7)
        let head: [UInt8] = [0x01, 0xEC, 0x4A, UInt8(truncatingIfNeeded: offset)]
        return Base64.encode(head + fingerprint.bytes + check.bytes + mixed(check).bytes, as: .url)
    }
}
