internal import NIOCore

/// The resources with which the event loop answers requests: the world, random numbers, and caches. No other thread
/// uses them, so there are no locks.
final class LoopResources {
    let configuration: SimulatorConfiguration
    let world: World
    let finder: PlaceFinder
    let allocator = ByteBufferAllocator()
    let loop: any EventLoop
    var numbers: HashStream

    private var fieldMasks: [String: GooglePlacesMask] = [:]

    init(_ configuration: SimulatorConfiguration, loop: any EventLoop) {
        self.configuration = configuration
        self.loop = loop
        world = World(seed: configuration.seed, cacheBytes: 96 << 20)
        finder = PlaceFinder(world: world)
        numbers = HashStream(mixed(configuration.seed ^ 0x51_4D))
    }

    /// Returns a field mask of Google Places (New). Each text is parsed and checked only once.
    func fieldMask(_ text: String, for call: GooglePlacesTier.Call) throws(InvalidArgument) -> GooglePlacesMask {
        guard text.utf8.count <= 8192 else { throw InvalidArgument("The field mask is too long.") }

        let key = "\(call) \(text)"
        if let known = fieldMasks[key] { return known }

        if fieldMasks.count >= 1000 {
            // The numbers of masks start again, so fragments rendered under the old numbers must be removed.
            fieldMasks.removeAll()
            world.forgetAll()
        }
        let mask = try GooglePlacesMask(text, for: call, number: UInt32(clamping: fieldMasks.count + 1))
        fieldMasks[key] = mask
        return mask
    }

    /// Joins fragments, a head and a tail in one buffer of exactly the required size.
    func join(_ fragments: [ByteBuffer], head: String, separator: StaticString, tail: StaticString) -> ByteBuffer {
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
