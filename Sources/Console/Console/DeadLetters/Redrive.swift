package import EventContract
internal import JSON

/// A person's choice of letters to send back, and the list that they were chosen from:
/// `{"confirm":"...","letters":[{"partition":0,"offset":7}]}`. A corrected letter has its new text in `value`.
package struct RedriveChoice: Sendable {
    /// `confirm`: the version of that list.
    package private(set) var version = ""
    /// `expiryMs`: letters with an expiry get a new one, this long after they are sent; `nil`: they keep theirs.
    package private(set) var expiry: Duration?
    /// Whether letters that went back before are sent again.
    package private(set) var again = false
    /// The letters, each with its new value; `nil`: unchanged.
    package private(set) var letters: [RedriveMark: [UInt8]?] = [:]

    /// The letter and its new value, if the choice is exactly one corrected letter.
    var onlyEdited: (position: RedriveMark, value: [UInt8])? {
        guard letters.count == 1, let (position, value) = letters.first, let value else { return nil }
        return (position, value)
    }

    /// - Throws: `invalid` for anything else, so that nothing goes back by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        try JSONBody.members(of: bytes) { name, json throws(JSONError) in
            switch name {
            case "confirm": version = try json.string() ?? ""
            case "expiryMs": expiry = try json.int().flatMap { $0 > 0 ? .milliseconds($0) : nil }
            case "again": again = try json.bool() ?? false
            case "letters": try readLetters(from: &json)
            default: try json.skip()
            }
        }
        guard !letters.isEmpty else { throw ConsoleError(.invalid, "no letter is chosen", member: "letters") }
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
                let position = RedriveMark(partition: partition, offset: Int64(offset))
                letters.updateValue(value.map { Array($0.utf8) }, forKey: position)
            }
        }
    }
}

/// The progress of a redrive, and the outcomes of its letters.
package struct RedriveReport: Sendable, Hashable {
    /// The number of chosen letters that could go back.
    package var chosen: Int
    /// The number of letters that had already gone back when they were chosen.
    package var wentBefore: Int
    /// The number of letters that the topic deleted before they could go back.
    package var deleted: Int
    /// The number of letters sent so far.
    package var sent = 0
    /// True until the last letter was sent.
    package var isSending = true
    /// Why some letters were not sent.
    package var problem: String?

    /// The number of letters with a result.
    package var completed = 0
    /// The number of letters that ended with an error, by `error.code`.
    package var failed: [String: Int] = [:]
    /// The number of letters that became dead letters again.
    package var cameBack = 0
    /// The number of letters that were sent and have no outcome yet.
    package var open = 0
    /// True until each has its outcome, or `wait` has passed.
    package var isWaiting = true
    /// How long to wait for outcomes after the last letter.
    package var wait: Duration
    /// Why no outcomes are watched for.
    package var outcomesProblem: String?

    package init(chosen: Int, wentBefore: Int, deleted: Int, wait: Duration) {
        (self.chosen, self.wentBefore, self.deleted, self.wait) = (chosen, wentBefore, deleted, wait)
    }
}
