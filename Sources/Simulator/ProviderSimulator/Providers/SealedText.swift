internal import Basics

/// Texts that a client gets from the simulator and returns to it, such as page tokens. They contain all that the
/// simulator needs to know, so it stores nothing. A damaged text, or one from another world, is detected.
enum SealedText {
    /// Returns a text that contains `payload`.
    static func seal(_ payload: [UInt8], seed: UInt64) -> String {
        Base64.encode(check(payload, seed: seed).bytes + payload, as: .url)
    }

    /// Returns the payload of a text; `nil` if the text is damaged.
    static func open(_ text: some StringProtocol, seed: UInt64) -> [UInt8]? {
        guard text.utf8.count <= 8192, let bytes = Base64.decode(text, as: .url), bytes.count > 8 else { return nil }
        let payload = Array(bytes[8...])
        return UInt64(bytes: bytes[..<8]) == check(payload, seed: seed) ? payload : nil
    }

    private static func check(_ payload: [UInt8], seed: UInt64) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.combine(payload)
        return mixed(fingerprint.value ^ seed)
    }
}

/// A photo of a place at Google. Its reference is the same in every search.
struct GooglePhoto {
    /// The two words of the place's id.
    let words: (UInt64, UInt64)
    /// The photo's index among the photos of its place.
    let index: Int

    init(words: (UInt64, UInt64), index: Int) { (self.words, self.index) = (words, index) }

    /// Returns the photo of a reference; `nil` if there is none.
    init?(reference: some StringProtocol, in world: World) {
        guard let payload = SealedText.open(reference, seed: world.seed), payload.count > 17 else { return nil }
        words = (UInt64(bytes: payload[1..<9]), UInt64(bytes: payload[9..<17]))
        index = Int(payload[0])
        guard let id = world.ids.place(ofWords: words), let (_, place) = world.place(id), index < place.photoCount
        else {
            return nil
        }
    }

    /// Returns the reference to the photo.
    /// - Parameter filler: the number of bytes without a meaning. Google's references have several hundred characters.
    func reference(seed: UInt64, filler: Int) -> String {
        var numbers = HashStream(words.1 ^ UInt64(index))
        let tail = (0..<filler).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        return SealedText.seal(
            [UInt8(truncatingIfNeeded: index)] + words.0.bytes + words.1.bytes + tail, seed: seed)
    }

    /// Returns the URL that the picture would have.
    func link(size: String) -> String {
        var numbers = HashStream(words.1 &+ UInt64(index))
        let name = (0..<72).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        return "https://lh3.googleusercontent.com/place-photos/\(Base64.encode(name, as: .url))=s4800-\(size)"
    }
}
