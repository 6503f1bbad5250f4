internal import CScan

/// Computes the steps of a layout from one object.
struct JSONLayoutLearner {
    /// More steps than any provider's object needs, of 16 bytes each. A layout is kept, so its size must not depend on
    /// the input.
    private static let maximumSteps = 1024
    private let paths: [String]
    private var steps: [locsearch_step] = []
    /// The index after the bytes that are in the steps.
    private var learned = 0
    /// The first step of the current member.
    private var memberStep = 0

    /// Thrown if objects like this one cannot be followed. Reasons are an array, a duplicate key, a key with escapes or
    /// a dot, or too many bytes between the values.
    private struct IsUnsuitable: Error {}

    /// Returns the steps of an object; none if objects like this one cannot be followed.
    static func steps(of object: Span<UInt8>, paths: [String]) -> [locsearch_step] {
        var learner = JSONLayoutLearner(paths: paths)
        var reader = JSONReader(object)
        do {
            try learner.learn(&reader, path: "", of: object)
            return learner.steps
        } catch {
            return []
        }
    }

    private init(paths: [String]) { self.paths = paths }

    private mutating func learn(_ reader: inout JSONReader, path: String, of object: Span<UInt8>) throws {
        guard try reader.enterObject() else { throw IsUnsuitable() }
        var keys: Set<String> = []

        while let key = try reader.nextKey() {
            let name = try key.string()
            guard !key.hasEscapes, !name.contains("."), keys.insert(name).inserted else { throw IsUnsuitable() }

            if path.isEmpty, keys.count > 1 { beginMember() }
            try learnValue(&reader, path: path + name, of: object)
            if path.isEmpty { try addGlue(object, to: reader.offset) }
        }

        guard path.isEmpty else { return }
        beginMember()
        try addGlue(object, to: reader.offset)
    }

    private mutating func learnValue(_ reader: inout JSONReader, path: String, of object: Span<UInt8>) throws {
        switch try reader.kind() {
        case .object: try learn(&reader, path: path + ".", of: object)
        case .array: throw IsUnsuitable()
        case .string, .number, .boolean, .null:
            try addGlue(object, to: reader.offset)
            steps[steps.count - 1].field = paths.firstIndex(of: path) ?? locsearch_unwanted
            try reader.skip()
            learned = reader.offset
        }
    }

    /// Marks the next step as the beginning of a member, or the end of the object. The walk can continue there if the
    /// preceding member is missing.
    private mutating func beginMember() {
        if memberStep > 0 { steps[memberStep].next_member = steps.count }
        memberStep = steps.count
    }

    /// Adds the bytes that are not in the steps yet.
    private mutating func addGlue(_ object: Span<UInt8>, to end: Int) throws(IsUnsuitable) {
        while learned < end {
            guard steps.count < Self.maximumSteps else { throw IsUnsuitable() }
            let length = min(end - learned, 16)
            // Safe: the call copies `length` bytes, which are within the span.
            let step = unsafe object.extracting(learned..<learned + length).withUnsafeBufferPointer { glue in
                unsafe locsearch_step_of(glue.baseAddress.unsafelyUnwrapped, length)
            }
            steps.append(step)
            learned += length
        }
    }
}
