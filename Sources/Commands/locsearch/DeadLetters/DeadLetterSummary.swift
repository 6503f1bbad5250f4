import EventContract
import Kafka
import LocationSearch

/// A dead letter without its bytes: what commands show, sort and choose by. Many of them fit into memory.
struct DeadLetterSummary: Sendable {
    /// The letter's position in the dead-letter topic, and the mark that says that it went back.
    let mark: RedriveMark
    /// `error.code` of its error event.
    let reason: String
    let message: String
    let member: String?
    /// The record's position in its topic of requests.
    let source: SourcePosition?
    /// The time at which it was put aside.
    let time: EventTime?
    let keyHead: Head?
    /// `nil`: the record had no value, or its content is not here.
    let valueHead: Head?
    /// True where the dead-letter topic did not take the record's content, which therefore cannot go back.
    let isWithoutContent: Bool
    /// True for a worker's result or error, which stood in the requests topic and does not go back there.
    let isOutcome: Bool
    /// The source of the event that the record was; `nil` where it does not say.
    let producer: String?
    /// Why the record would be put aside again, as it is; `nil` where it is a request by now, or is not to go back at all.
    let fault: String?
    /// The name of what is at fault now.
    let faultMember: String?
    /// True once the letter went back to the requests topic.
    var isRedriven = false

    /// The beginning of a key or a value, and how long it is in all.
    struct Head: Sendable {
        /// Bytes that are kept, unless somebody looks for texts in them.
        static let mostBytes = 120

        let text: String
        /// Bytes of the whole.
        let count: Int
        let isCut: Bool

        init(_ bytes: [UInt8], most: Int) {
            text = String(decoding: bytes.prefix(most), as: UTF8.self)
            count = bytes.count
            isCut = count > most
        }
    }

    /// - Parameters:
    ///   - judge: says what is wrong with the record now; `nil`: nobody wants to know.
    ///   - headBytes: the bytes of key and value that are kept.
    init(
        _ letter: DeadLetter, at mark: RedriveMark, judge: RequestJudge? = nil, headBytes: Int = Head.mostBytes
    ) {
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
    }

    /// True for a record with which worker processes have crashed.
    var crashesWorkers: Bool { reason == DeadLetter.crashedWorkers }

    /// True while the letter can go back to the requests topic.
    var isPending: Bool { !isRedriven && !isWithoutContent && !isOutcome }

    /// Orders letters by the time at which they were put aside, oldest first. Of letters of one millisecond, and of those
    /// that tell no time and come last, the one that stands first in the dead-letter topic comes first: the lower
    /// partition, then the lower offset.
    static func isOlder(_ a: DeadLetterSummary, than b: DeadLetterSummary) -> Bool {
        let (timeOfA, timeOfB) = (a.time?.milliseconds ?? .max, b.time?.milliseconds ?? .max)
        return (timeOfA, a.mark.partition, a.mark.offset) < (timeOfB, b.mark.partition, b.mark.offset)
    }
}
