internal import Basics

/// Creates and parses references to photos. A reference is derived from its photo, so it is the same in every search,
/// and a damaged one is detected.
struct PhotoReferences {
    private let world: World

    struct Photo {
        /// The two words of the place's id.
        let words: (UInt64, UInt64)
        /// The photo's index among the photos of its place.
        let index: Int
    }

    init(of world: World) { self.world = world }

    /// Returns the reference to a photo.
    /// - Parameter isNew: true for Google Places (New), whose references have several hundred characters.
    static func reference(to photo: Photo, seed: UInt64, isNew: Bool) -> String {
        let head: [UInt8] = [0x01, 0xC9, isNew ? 0xE5 : 0xB0, UInt8(truncatingIfNeeded: photo.index)]
        var filler = HashStream(mixed(photo.words.0 ^ seed) ^ UInt64(photo.index))
        let count = (isNew ? 200 : 120) + filler.next(below: 50)
        let tail = (0..<count).map { _ in UInt8(truncatingIfNeeded: filler.next()) }
        return Base64.encode(head + photo.words.0.bytes + photo.words.1.bytes + tail, as: .url)
    }

    /// Returns the photo of a reference; `nil` if the reference is damaged or comes from another world.
    func find(_ reference: some StringProtocol) -> Photo? {
        guard reference.utf8.count < 1000, let bytes = Base64.decode(reference, as: .url), bytes.count > 20 else {
            return nil
        }
        let photo = Photo(
            words: (UInt64(bytes: bytes[4..<12]), UInt64(bytes: bytes[12..<20])), index: Int(bytes[3]))
        guard let id = world.ids.place(ofWords: photo.words), let (_, place) = world.place(id),
            photo.index < place.photoCount
        else { return nil }
        guard Self.reference(to: photo, seed: world.seed, isNew: bytes[2] == 0xE5) == String(reference) else {
            return nil
        }
        return photo
    }

    /// Returns the URL that the picture would have.
    static func link(to photo: Photo, size: String) -> String {
        var numbers = HashStream(photo.words.1 &+ UInt64(photo.index))
        let name = (0..<72).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        return "https://lh3.googleusercontent.com/place-photos/\(Base64.encode(name, as: .url))=s4800-\(size)"
    }
}
