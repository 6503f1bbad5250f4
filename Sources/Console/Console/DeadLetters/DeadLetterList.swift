package import EventContract

/// The dead letters of the topic as it stood when it was read.
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
        /// The name of what is at fault.
        package let member: String?
        /// The source of the event that the record was.
        package let producer: String?
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
        /// True for a result or an error of a worker, which does not go back.
        package let isOutcome: Bool
        /// True for a record with which worker processes have crashed, which goes back from the command line only.
        package let crashesWorkers: Bool
        /// Why it would be put aside again as it is; `nil` where it is a request by now, or does not go back at all.
        package let fault: String?

        package init(
            position: Position, reason: String, message: String, member: String? = nil, producer: String? = nil,
            source: SourcePosition?, time: EventTime?, valueHead: String, isRedriven: Bool, isWithoutContent: Bool,
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

    /// The letters with one reason, one member at fault and one producer.
    package struct Group: Sendable, Hashable {
        package let reason: String
        package let member: String?
        package let producer: String?
        /// The number of letters.
        package let letters: Int
        /// The number of those that can go back.
        package let pending: Int
        /// The number of those of them that are still no request.
        package let faulty: Int
        package let oldest: EventTime?
        package let newest: EventTime?

        package init(
            reason: String, member: String?, producer: String?, letters: Int, pending: Int, faulty: Int,
            oldest: EventTime?, newest: EventTime?
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
    /// The number of those that have not gone back and could.
    package let pending: Int
    /// The number of those that match the query.
    package let matching: Int
    /// The newest letters that match, newest first.
    package let letters: [Letter]
    /// All letters that were read, counted by what is at fault and who sent them, the largest group first.
    package let groups: [Group]
    package let readAt: EventTime
    /// A text that names where the topic ended.
    package let version: String
    /// True when the topic holds older letters, which were not read and are not counted.
    package let isPartial: Bool

    package init(
        total: Int, pending: Int, matching: Int, letters: [Letter], groups: [Group], readAt: EventTime, version: String,
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
