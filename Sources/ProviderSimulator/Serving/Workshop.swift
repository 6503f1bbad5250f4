internal import NIOCore

/// What one event loop works with: its part of the world and what it remembers of the requests before. Nothing of it is
/// shared, so nothing is locked.
final class Workshop {
    let configuration: SimulatorConfiguration
    let world: World
    let finder: PlaceFinder
    let allocator = ByteBufferAllocator()
    /// The one it belongs to.
    let loop: (any EventLoop)?
    var numbers: HashStream

    private var keywords: [String: KeywordMatch] = [:]
    private var newMasks: [String: NewMask] = [:]

    /// - Parameter number: of the loop; each throws its own dice.
    init(_ configuration: SimulatorConfiguration, number: Int, loop: (any EventLoop)? = nil) {
        self.configuration = configuration
        self.loop = loop
        world = World(seed: configuration.seed, cacheBytes: configuration.cacheBytes / configuration.threads)
        finder = PlaceFinder(world: world)
        numbers = HashStream(mixed(configuration.seed ^ UInt64(number) << 32 ^ 0x51_4D))
    }

    /// - Returns: `nil` for a text without words to search for.
    func keyword(_ text: String, lenient: Bool) -> KeywordMatch? {
        let key = lenient ? "~" + text : text
        if let known = keywords[key] { return known.words.isEmpty ? nil : known }
        if keywords.count >= 512 { keywords.removeAll() }
        let match = KeywordMatch(text, lenient: lenient)
        if key.utf8.count <= 256 { keywords[key] = match }
        return match.words.isEmpty ? nil : match
    }

    /// A mask of Google's new API, checked once for each text.
    func newMask(_ text: String, _ call: NewMask.Call) throws(Refusal) -> NewMask {
        guard text.utf8.count <= 8192 else { throw Refusal(message: "The field mask is too long.") }
        let key = "\(call) \(text)"
        if let known = newMasks[key] { return known }
        if newMasks.count >= 1000 {
            // Numbers begin anew, so what was rendered under them must go.
            newMasks.removeAll()
            world.forgetAll()
        }
        let mask = try NewMask(text, call, number: UInt32(newMasks.count + 1))
        newMasks[key] = mask
        return mask
    }

    /// Puts fragments between a beginning and an end, in one buffer of exactly the size.
    func join(
        _ head: String, _ fragments: [ByteBuffer], separator: StaticString, _ tail: StaticString
    ) -> ByteBuffer {
        let size = fragments.reduce(head.utf8.count + tail.utf8CodeUnitCount) {
            $0 + $1.readableBytes + separator.utf8CodeUnitCount
        }
        var body = allocator.buffer(capacity: size)
        body.writeString(head)
        var isFirst = true
        for fragment in fragments {
            if !isFirst { body.writeStaticString(separator) }
            isFirst = false
            body.writeImmutableBuffer(fragment)
        }
        body.writeStaticString(tail)
        return body
    }
}
