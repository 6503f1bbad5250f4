import EventContract
import Kafka
import KafkaTestSupport
import Logging
import Testing

@testable import ProviderCalls
@testable import WorkerRuntime

/// The requests that a worker abandons at once when a partition is revoked.
struct OwnedPartitionTests {
    private static let id = AssignedPartition(TopicPartition("requests", 0), epoch: 1)
    /// A partition without done-sets.
    private let partition = OwnedPartition(id, doneSetBytes: 0)

    private func take(_ count: Int64, of partition: OwnedPartition? = nil) throws -> [RequestInProgress] {
        let partition = partition ?? self.partition
        return try (0..<count).map { offset in
            let slot = partition.commits.tracker.begin(offset).slot
            let request = RequestInProgress(
                record: ConsumerRecord(partition: partition.id, offset: offset), partition: partition,
                slot: try #require(slot), arrival: RecordArrival(instant: .now, time: .now()))
            partition.add(request)
            return request
        }
    }

    /// A commit with a crash note may be in flight during the revocation.
    @Test func `The withdrawal of a try is committed after the try`() throws {
        let partition = OwnedPartition(Self.id, doneSetBytes: 4096)
        partition.commits.begin(at: CommittedOffset(0), with: CommitMetadata())
        partition.commits.willBegin(0...0, count: 1, at: .now)
        let noteCommit = partition.commits.takeProgress()
        let note = try #require(noteCommit)
        #expect(note.metadata == "locsearch1;at=0;tries=1")

        partition.commits.noteOrderlyEnd()
        partition.commits.noteConfirmed(note)
        #expect(!partition.isNoted)
        let goodbyeCommit = partition.commits.takeProgress()
        let goodbye = try #require(goodbyeCommit)
        #expect(goodbye == CommittedOffset(0))
        partition.commits.noteConfirmed(goodbye)
        #expect(partition.isNoted)
    }

    /// The state of a request at the revocation.
    enum RequestState {
        case open
        /// A call was made for it.
        case billed
        case beingDelivered
        case delivered
    }

    /// Without done-sets, the next owner begins at the committed offset. So requests before one with a call, or with an outcome, must
    /// not be left to it. With done-sets, it skips the requests that were finished behind them.
    @Test(
        arguments: [
            ([.open, .open, .open], 0, [true, true, true]),
            ([.open, .billed, .open, .open], 0, [false, false, true, true]),
            ([.open, .billed, .delivered, .open], 4096, [true, false, false, true]),
            ([.open, .open, .delivered, .open], 0, [false, false, false, true]),
            ([.delivered, .open, .open], 0, [false, true, true]),
            ([.open, .beingDelivered, .open], 0, [false, false, true]),
        ] as [([RequestState], Int, [Bool])])
    func `Requests without cost are abandoned`(states: [RequestState], doneSetBytes: Int, abandoned: [Bool]) throws {
        let partition = OwnedPartition(Self.id, doneSetBytes: doneSetBytes)
        let requests = try take(Int64(states.count), of: partition)
        for (request, state) in zip(requests, states) {
            switch state {
            case .open: break
            case .billed: request.context.noteCall(at: .now)
            case .beingDelivered: request.beginDelivery()
            case .delivered:
                partition.commits.tracker.markDelivered(request.slot)
                partition.remove(request)
            }
        }
        partition.abandonUnbilled()
        #expect(requests.map { $0.fate == .abandoned } == abandoned)
    }

    // MARK: - Outcomes that may be published

    /// No commit could list the requests behind it as done.
    @Test func `Without done-sets no outcome is published before an open request`() throws {
        let slots = try take(4).map(\.slot)
        for slot in slots { partition.commits.tracker.markReady(slot) }

        #expect(partition.commits.publishable(slots) == slots)
        #expect(partition.commits.publishable([slots[0], slots[2], slots[3]]) == [slots[0]])
        #expect(partition.commits.publishable([slots[1], slots[2], slots[3]]).isEmpty)
    }

    @Test func `With done-sets an outcome is published before an open request`() throws {
        let partition = OwnedPartition(Self.id, doneSetBytes: 4096)
        let slots = try take(3, of: partition).map(\.slot)
        for slot in slots { partition.commits.tracker.markReady(slot) }

        #expect(partition.commits.publishable([slots[1], slots[2]]) == [slots[1], slots[2]])
    }

    /// A transaction cannot leave out requests that were published beyond its offset. If brokers rejected its metadata, the worker
    /// would halve its limit for all partitions.
    @Test(arguments: [128, 300, 4096], [true, false])
    func `Crash notes find room beside all published outcomes`(bytes: Int, areNotedBefore: Bool) throws {
        let partition = OwnedPartition(Self.id, doneSetBytes: bytes)
        var former = CommitMetadata()
        former.crashes = CrashNotes(tries: 1)
        partition.commits.begin(at: CommittedOffset(0), with: former)
        let requests = try take(Int64(bytes) * 5, of: partition)
        let noted = (0..<64).map { Int64(100_000 + 977 * $0) }
        if areNotedBefore { partition.commits.willRead(noted, beside: [], at: .now) }

        // Every third request is open, until no more outcomes may be published.
        var waiting = requests.filter { $0.offset % 3 > 0 }[...]
        for request in requests { partition.remove(request) }
        for request in waiting { partition.commits.tracker.markReady(request.slot) }
        while case let leaving = partition.commits.publishable(waiting.prefix(500).map(\.slot)), !leaving.isEmpty {
            for slot in leaving { partition.commits.tracker.markDelivered(slot) }
            waiting = waiting.dropFirst(leaving.count)
        }
        try #require(!waiting.isEmpty)
        partition.commits.willRead(noted, beside: [], at: .now)
        partition.commits.willRunAlone(300_000, at: .now)
        let progress = partition.commits.uncommittedProgress()
        let commit = try #require(progress)
        #expect(commit.metadata.utf8.count <= bytes, "\(commit.metadata.utf8.count)")
        #expect(commit.metadata.contains("bits=") || commit.metadata.contains("runs="))
        #expect(commit.metadata.contains("alone=300000:0"))
        partition.commits.noteConfirmed(commit)
        #expect(partition.isNoted, "nothing waits for notes that do not fit")
    }

    /// The brokers may be reconfigured to keep less while a worker runs.
    @Test func `Notes that no longer fit are shortened`() throws {
        let limit = MetadataLimit(4096, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let partition = OwnedPartition(Self.id, metadataLimit: limit)
        var former = CommitMetadata()
        former.crashes = CrashNotes(tries: 1)
        partition.commits.begin(at: CommittedOffset(0), with: former)
        let beginning = partition.commits.tracker.begin(0)
        let record = try #require(beginning.slot)
        partition.commits.willRead((0..<64).map { Int64(977 * $0) }, beside: [], at: .now)
        let notesCommit = partition.commits.takeProgress()
        let notes = try #require(notesCommit)
        #expect(notes.metadata.contains("running=0+977"))

        while limit.allowed > 256 { #expect(limit.shrink(after: KafkaError(librdkafkaCode: 12, doing: "commit"))) }
        partition.commits.tracker.renewNews()
        partition.commits.reviewCrashes(at: .now)
        let shorterCommit = partition.commits.takeProgress()
        let shorter = try #require(shorterCommit)
        #expect(shorter.metadata == "locsearch1;at=0;tries=2;begun=61552")
        partition.commits.noteConfirmed(shorter)
        #expect(partition.isNoted)
        partition.commits.tracker.markDelivered(record)
    }

    @Test func `Only later requests await a dead letter`() throws {
        let requests = try take(3)
        partition.expectDeadLetter(of: requests[1].slot)
        #expect(requests.map { partition.awaitsDeadLetter(before: $0.slot) } == [false, false, true])

        partition.expectDeadLetter(of: requests[0].slot)
        #expect(partition.deadLetterIsWritten(of: requests[2].slot) == false)
        #expect(partition.deadLetterIsWritten(of: requests[1].slot) && partition.hasPendingDeadLetters)
        #expect(partition.deadLetterIsWritten(of: requests[0].slot) && !partition.hasPendingDeadLetters)
        #expect(partition.awaitsDeadLetter(before: requests[2].slot) == false)
    }

    @Test func `Requests that end in any order leave the others in progress`() throws {
        let requests = try take(4)
        for (ended, left) in [(1, [0, 2, 3]), (1, [0, 2, 3]), (3, [0, 2]), (0, [2]), (2, [])] {
            partition.remove(requests[ended])
            #expect(partition.inProgress.sorted() == left.map { Int64($0) })
        }
        #expect(partition.isIdle && requests.allSatisfy { $0.index == nil })
    }

    /// An interactive request that joins its call changes the class of the call, and nothing else.
    @Test func `A batch request waits as one whatever class its call has`() throws {
        let slot = partition.commits.tracker.begin(0).slot
        let batch = RequestInProgress(
            record: ConsumerRecord(partition: partition.id, offset: 0), partition: partition,
            slot: try #require(slot), arrival: RecordArrival(instant: .now, time: .now()), flow: Flow(.batch))
        batch.context.becomeInteractive()
        #expect(batch.flow.requestClass == .batch && batch.context.flow.requestClass == .interactive)
    }
}
