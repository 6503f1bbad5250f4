internal import JSON

/// The letters that a person chose to send back, and the list that they were chosen from:
/// `{"confirm":"...","letters":[{"partition":0,"offset":7}]}`.
struct RedriveChoice {
    private(set) var version = ""
    private(set) var letters: Set<DeadLetterList.Position> = []

    /// - Throws: `invalid` for anything else, so that nothing goes back by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        do throws(JSONError) {
            var reader = JSONReader(bytes.span)
            try read(from: &reader)
            try reader.finish()
        } catch {
            throw ConsoleError(.invalid, "the body is no JSON: \(error)")
        }

        guard !version.isEmpty else {
            throw ConsoleError(.invalid, "confirm is missing: list the dead letters first", member: "confirm")
        }
        guard !letters.isEmpty else { throw ConsoleError(.invalid, "no letter is chosen", member: "letters") }
    }

    private mutating func read(from reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "confirm": version = try reader.string() ?? ""
            case "letters": try readLetters(from: &reader)
            default: try reader.skip()
            }
        }
    }

    private mutating func readLetters(from reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            guard try reader.enterObject() else { continue }

            var (partition, offset) = (nil as Int?, nil as Int?)
            while let key = try reader.nextKey() {
                switch key {
                case "partition": partition = try reader.int()
                case "offset": offset = try reader.int()
                default: try reader.skip()
                }
            }
            if let partition = partition.flatMap({ Int32(exactly: $0) }), let offset {
                letters.insert(DeadLetterList.Position(partition: partition, offset: Int64(offset)))
            }
        }
    }
}
