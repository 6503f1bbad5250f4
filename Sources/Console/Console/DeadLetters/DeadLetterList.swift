package import EventContract

/// The dead letters of the topic at the time of reading.
package struct DeadLetterList: Sendable, Hashable {
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
        /// The name of the faulty part.
        package let member: String?
        /// The source of the original event.
        package let producer: String?
        /// The position of the record in the requests topic.
        package let source: SourcePosition?
        /// The time at which the dead letter was written.
        package let time: WallTime?
        /// The beginning of the value, as text.
        package let valueHead: String
        /// True once the letter was sent back.
        package let isRedriven: Bool
        /// True if the dead-letter topic did not take its content, so that it cannot go back.
        package let isWithoutContent: Bool
        /// True for a worker's result or error, which does not go back.
        package let isOutcome: Bool
        /// True for a record with which worker processes have crashed. It can be sent back only from the command line.
        package let crashesWorkers: Bool
        /// Why the unchanged record would be rejected again; `nil` if it is a valid request or cannot go back.
        package let fault: String?

        package init(
            position: Position, reason: String, message: String, member: String? = nil, producer: String? = nil,
            source: SourcePosition?, time: WallTime?, valueHead: String, isRedriven: Bool, isWithoutContent: Bool,
            isOutcome: Bool = false, crashesWorkers: Bool = false, fault: String? = nil
        ) {
            self.position = position
            self.reason = reason
            self.message = message
            self.member = member
            self.producer = producer
            self.source = source
            self.time = time
            self.valueHead = valueHead
            self.isRedriven = isRedriven
            self.isWithoutContent = isWithoutContent
            self.isOutcome = isOutcome
            self.crashesWorkers = crashesWorkers
            self.fault = fault
        }
    }

    /// The letters with the same reason, the same faulty member and the same producer.
    package struct Group: Sendable, Hashable {
        package let reason: String
        package let member: String?
        package let producer: String?
        /// The number of letters.
        package let letters: Int
        /// The number of letters that can go back.
        package let pending: Int
        /// The number of letters among `pending` that are still invalid.
        package let faulty: Int
        package let oldest: WallTime?
        package let newest: WallTime?

        package init(
            reason: String, member: String?, producer: String?, letters: Int, pending: Int, faulty: Int,
            oldest: WallTime?, newest: WallTime?
        ) {
            self.reason = reason
            self.member = member
            self.producer = producer
            self.letters = letters
            self.pending = pending
            self.faulty = faulty
            self.oldest = oldest
            self.newest = newest
        }
    }

    /// The number of all letters that were read.
    package let total: Int
    /// The number of letters that can go back and have not.
    package let pending: Int
    /// The number of letters that match the query.
    package let matching: Int
    /// The newest matching letters, newest first.
    package let letters: [Letter]
    /// All letters that were read, grouped by fault and producer, the largest group first.
    package let groups: [Group]
    package let readAt: WallTime
    /// A text that identifies the end of the topic.
    package let version: String
    /// True if the topic has older letters, which were not read and are not counted.
    package let isPartial: Bool

    package init(
        total: Int, pending: Int, matching: Int, letters: [Letter], groups: [Group], readAt: WallTime, version: String,
        isPartial: Bool = false
    ) {
        self.total = total
        self.pending = pending
        self.matching = matching
        self.letters = letters
        self.groups = groups
        self.readAt = readAt
        self.version = version
        self.isPartial = isPartial
    }
}
