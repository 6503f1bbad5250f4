package import EventContract

/// The dead letters of the topic as it stood when it was read.
package struct DeadLetterList: Sendable, Hashable {
    /// The position of a letter in the dead-letter topic.
    package struct Position: Sendable, Hashable {
        package let partition: Int32
        package let offset: Int64

        package init(partition: Int32, offset: Int64) {
            self.partition = partition
            self.offset = offset
        }
    }

    /// One letter without its bytes.
    package struct Letter: Sendable, Hashable {
        package let position: Position
        /// The error code.
        package let reason: String
        /// The reason in one line, for a person.
        package let message: String
        /// The position of the record in the requests topic.
        package let source: SourcePosition?
        /// The time at which it was put aside.
        package let time: EventTime?
        /// The beginning of its value, as text.
        package let valueHead: String
        /// True once it went back.
        package let isRedriven: Bool
        /// True where the dead-letter topic did not take its content, so that it cannot go back.
        package let isWithoutContent: Bool

        package init(
            position: Position, reason: String, message: String, source: SourcePosition?, time: EventTime?,
            valueHead: String, isRedriven: Bool, isWithoutContent: Bool
        ) {
            self.position = position
            self.reason = reason
            self.message = message
            self.source = source
            self.time = time
            self.valueHead = valueHead
            self.isRedriven = isRedriven
            self.isWithoutContent = isWithoutContent
        }
    }

    /// The outcome of sending letters back.
    package struct Redriven: Sendable, Hashable {
        /// The number that went back.
        package let redriven: Int
        /// The number that the topic had deleted before they could.
        package let deleted: Int

        package init(redriven: Int, deleted: Int) {
            self.redriven = redriven
            self.deleted = deleted
        }
    }

    /// The number of all letters that were read.
    package let total: Int
    /// The number of those that have not gone back and could.
    package let pending: Int
    /// The newest letters, newest first.
    package let letters: [Letter]
    /// A text that differs when the topic does.
    package let version: String
    /// True when the topic holds older letters, which were not read and are not counted.
    package let isPartial: Bool

    package init(total: Int, pending: Int, letters: [Letter], version: String, isPartial: Bool = false) {
        self.isPartial = isPartial
        self.total = total
        self.pending = pending
        self.letters = letters
        self.version = version
    }
}
