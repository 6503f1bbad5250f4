internal import JSON

/// A person's choice of letters to send back, and the list that they were chosen from:
/// `{"confirm":"...","letters":[{"partition":0,"offset":7}]}`. A corrected letter has its new text in `value`.
struct RedriveChoice {
    private(set) var version = ""
    /// The letters, each with its new value; `nil`: unchanged.
    private(set) var letters: [DeadLetterList.Position: [UInt8]?] = [:]

    /// The letter and its new value, if the choice is exactly one corrected letter.
    var onlyEdited: (position: DeadLetterList.Position, value: [UInt8])? {
        guard letters.count == 1, let (position, value) = letters.first, let value else { return nil }
        return (position, value)
    }

    /// - Throws: `invalid` for anything else, so that nothing goes back by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        do throws(JSONError) {
            var reader = JSONReader(bytes.span)
            try read(from: &reader)
            try reader.finish()
        } catch {
            throw ConsoleError(.invalid, "the body is no JSON: \(error)")
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

            var (partition, offset, value) = (nil as Int?, nil as Int?, nil as String?)
            while let key = try reader.nextKey() {
                switch key {
                case "partition": partition = try reader.int()
                case "offset": offset = try reader.int()
                case "value": value = try reader.string()
                default: try reader.skip()
                }
            }
            if let partition = partition.flatMap({ Int32(exactly: $0) }), let offset {
                let position = DeadLetterList.Position(partition: partition, offset: Int64(offset))
                letters.updateValue(value.map { Array($0.utf8) }, forKey: position)
            }
        }
    }
}
