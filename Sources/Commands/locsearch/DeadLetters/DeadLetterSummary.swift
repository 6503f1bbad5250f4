import EventContract
import Kafka
import LocationSearch

/// The members of a dead letter that commands show, sort and filter by. It is small, so that many fit into memory.
struct DeadLetterSummary: Sendable {
    /// The letter's position in the dead-letter topic. The mark of a redriven letter contains it.
    let mark: RedriveMark
    /// See `DeadLetter.reason`.
    let reason: String
    let message: String
    let member: String?
    /// The record's position in its request topic.
    let source: SourcePosition?
    /// The time at which the record was written to the dead-letter topic.
    let time: WallTime?
    let keyHead: Head?
    /// `nil`: the record had no value, or its content was not stored.
    let valueHead: Head?
    /// True if the dead-letter topic did not accept the record's content, so that the letter cannot be redriven.
    let isWithoutContent: Bool
    /// True if the record is a worker's result or error that was in the request topic. Such a letter is not redriven.
    let isOutcome: Bool
    /// The `source` of the event in the record; `nil` if it has none.
    let producer: String?
    /// Why the record would be rejected again unless it is changed; `nil` if it is now valid, or would not be redriven
    /// at all.
    let fault: String?
    /// The name of the member that is invalid now.
    let faultMember: String?
    /// The `expirytime` of the event in the record; `nil` if it has none.
    let expiry: WallTime?
    /// True once the letter was redriven.
    var isRedriven = false

    /// The beginning of a key or a value, and its full length.
    struct Head: Sendable {
        /// The default number of bytes to keep. Text searches keep more.
        static let mostBytes = 120

        let text: String
        /// The number of bytes of the whole key or value.
        let count: Int
        let isCut: Bool

        init(_ bytes: [UInt8], most: Int) {
            text = String(decoding: bytes.prefix(most), as: UTF8.self)
            count = bytes.count
            isCut = count > most
        }
    }

    /// - Parameters:
    ///   - judge: checks whether the record is valid now; `nil`: this is not checked.
    ///   - headBytes: the number of bytes of key and value to keep.
    init(_ letter: DeadLetter, at mark: RedriveMark, judge: RequestJudge? = nil, headBytes: Int = Head.mostBytes) {
        self.mark = mark
        reason = letter.reason
        message = letter.message
        member = letter.member
        source = letter.source
        time = letter.time
        keyHead = letter.key.map { Head($0, most: headBytes) }
        valueHead = letter.value.map { Head($0, most: headBytes) }
        isWithoutContent = letter.isWithoutContent
        isOutcome = letter.isOutcome
        producer = letter.producer
        let isJudged = !letter.isOutcome && !letter.isWithoutContent
        let found = isJudged ? judge?.fault(of: letter) : nil
        (fault, faultMember) = (found?.message, found?.member)
        expiry = isJudged ? letter.expiry : nil
    }

    /// True if worker processes crashed with the record.
    var crashesWorkers: Bool { reason == DeadLetter.crashedWorkers }

    /// Returns true if workers would answer the letter as `expired` at this time.
    func isExpired(at time: WallTime) -> Bool { expiry.map { $0 <= time } ?? false }

    /// The same letter as if it had not been redriven, for a user who sends it again.
    var unmarked: DeadLetterSummary {
        var letter = self
        letter.isRedriven = false
        return letter
    }

    /// True while the letter can be redriven.
    var isPending: Bool { !isRedriven && !isWithoutContent && !isOutcome }

    /// Orders letters by the time at which they were written, oldest first. Letters without a time come last. Equal
    /// times are ordered by the position in the dead-letter topic: the lower partition, then the lower offset.
    static func isOlder(_ a: DeadLetterSummary, than b: DeadLetterSummary) -> Bool {
        let (timeOfA, timeOfB) = (a.time?.milliseconds ?? .max, b.time?.milliseconds ?? .max)
        return (timeOfA, a.mark.partition, a.mark.offset) < (timeOfB, b.mark.partition, b.mark.offset)
    }
}
