internal import EventLoop
internal import Kafka
internal import Logging

/// Begins the records of partitions that were just assigned, or whose former owners crashed: see `CrashWatch`.
///
/// The lane keeps their records in `keptRecords`, and goes on with its other partitions. Such a partition is not read
/// further until all kept records have begun. No record begins before the brokers have the note about it.
///
/// A record that runs in isolation is the only one in flight in the process: see `ExclusiveLock`. If its fault
/// then crashes the process, the crash handler commits a note that identifies the record at once.
///
/// Confined to its lane; not `Sendable`.
final class CarefulIntake {
    /// The most waiting requests of watched partitions that begin with one commit. More would lengthen the queue at a
    /// provider and delay more urgent requests.
    static let largestStepFromRoom = 8
    /// The most records of a partition that begin with one note.
    private static let largestStep = 64
    /// The time after which a watched partition's next records begin, even if those before them have not finished.
    private static let stepTime = Duration.seconds(1)
    /// The pause before a refused commit is retried. A commit that reaches the group just after a rebalance costs the
    /// member all its partitions. Frequent retries would therefore keep the group from becoming stable.
    static let retryPause = Duration.milliseconds(500)
    /// The interval at which the states of the other lanes and of records in isolation are polled.
    static let pause = Duration.milliseconds(10)

    let partitions: PartitionTable
    let delivery: LaneDelivery
    let source: any RequestSource
    let exclusiveLock: ExclusiveLock
    /// True if records may begin before others that were read earlier: see `WaitingRoom`.
    private let looksAhead: Bool
    /// The lane's number in `exclusiveLock`.
    private(set) var lane = 0
    var groupRest = GroupRest()
    /// True while a partition of this lane runs a record in isolation, or waits for that. Other partitions do not spend
    /// their time limit on this wait.
    var isOneAlone = false
    /// The number of partitions with kept records that are about to begin.
    private(set) var partitionsInCare = 0
    private var endOfCare = Condition()
    private var isCommitting = false
    private var isCommitDue = false
    let loop: EventLoop
    private let log: Logger

    init(
        partitions: PartitionTable, delivery: LaneDelivery, source: any RequestSource,
        exclusiveLock: ExclusiveLock,
        looksAhead: Bool, loop: EventLoop, log: Logger
    ) {
        (self.partitions, self.delivery, self.source) = (partitions, delivery, source)
        (self.exclusiveLock, self.looksAhead, self.loop, self.log) = (exclusiveLock, looksAhead, loop, log)
    }

    /// Registers the lane with `exclusiveLock`. Called once, before any record is taken.
    /// - Parameter isQuiet: returns whether nothing is in flight on this lane.
    func join(isQuiet: @escaping ExclusiveLock.IsQuiet) { lane = exclusiveLock.add(isQuiet) }

    /// True while a lane of the process runs a record in isolation, so that no other may begin.
    /// - Parameter isAlone: `true` for a record that this lane runs in isolation.
    func mustWait(isAlone: Bool) -> Bool { isAlone ? exclusiveLock.isTaken(besides: lane) : exclusiveLock.isTaken }

    /// True while a lane of the process runs a record in isolation, or is about to.
    var runsAlone: Bool { exclusiveLock.isTaken }

    /// Begins a record, or sets it aside.
    typealias Begin = (ConsumerRecord, _ how: CrashWatch.Permission) -> RequestInProgress?

    /// Waits while a record may not begin. Returns `false` if the lane takes no more requests: the partition's next
    /// owner then processes them.
    typealias Wait = (CrashWatch.Permission) async -> Bool

    /// Counts a partition whose records are kept from now on. `takeHeld` begins them.
    func willTakeHeld() { partitionsInCare += 1 }

    /// Begins the kept records of a partition in order, and then resumes reading it.
    /// - Parameters:
    ///   - isOpen: false while no record may run in isolation, and once the lane takes no more requests.
    ///   - begin: begins a record, or sets it aside. Returns `nil` for a record that need not run.
    func takeHeld(of id: AssignedPartition, mayBegin: Wait, isOpen: () -> Bool, begin: Begin) async {
        defer {
            partitionsInCare -= 1
            endOfCare.broadcast()
        }
        guard let partition = partitions[id.id], partition.id == id else { return }

        while isOurs(partition), let record = partition.keptRecords.first, await mayBegin(.runs), isOurs(partition) {
            switch partition.commits.permission(for: record.offset) {
            case .runs: await takeStep(of: partition, mayBegin: mayBegin, begin: begin)
            case .isSetAside:
                partition.keptRecords.removeFirst()
                setAside(record, begin: begin)
            case .runsAlone where isOneAlone: await loop.pause(Self.pause)
            case .runsAlone: await takeAlone(record, of: partition, mayBegin: mayBegin, isOpen: isOpen, begin: begin)
            }
        }
        if partition.keptRecords.isEmpty { partitions.pauses.resume(partition, from: .care) }
    }

    /// Waits until no partition has kept records that are about to begin.
    func waitForEnd() async {
        while partitionsInCare > 0 {
            await suspend(unless: partitionsInCare == 0) { endOfCare.add($0) }
        }
    }

    func isOurs(_ partition: OwnedPartition) -> Bool { partitions.contains(partition) && !partition.isLeaving }

    private func setAside(_ record: ConsumerRecord, begin: Begin) {
        guard begin(record, .isSetAside) != nil else { return }
        log.error(
            """
            a record became a dead letter, because workers crashed while they ran only this record; inspect it with \
            locsearch dead-letters, and fix the cause before you send it again
            """,
            metadata: ["partition": "\(record.partition.id)", "offset": "\(record.offset)"])
    }

    // MARK: - Small steps

    /// Begins the next kept records of a partition. In a watched partition, waits until they have finished, or for
    /// `stepTime`.
    /// - Parameter count: the number of records that begin even if they should run in isolation.
    func takeStep(of partition: OwnedPartition, atLeast count: Int = 0, mayBegin: Wait, begin: Begin) async {
        // An array, because a slice would make each removal copy the rest of the list.
        let next = Array(partition.keptRecords.prefix(Self.largestStep))
        let others = next.dropFirst(count).prefix { partition.commits.permission(for: $0.offset) == .runs }
        let records = next.prefix(count) + others
        if partition.commits.needsCare {
            note(records.map(\.offset), of: partition)
            guard await commitNotes(of: [partition], mayBegin: { await mayBegin(.runs) }) else { return }
        }

        var requests: [RequestInProgress] = []
        for record in records {
            guard await mayBegin(.runs), isOurs(partition) else { return }
            partition.keptRecords.removeFirst()
            if let request = begin(record, .runs) { requests.append(request) }
            partition.commits.watch.haveBegun(CollectionOfOne(record.offset))
        }
        // A request that waits to begin is noted again when it begins.
        guard partition.commits.isWatched, !looksAhead else { return }
        _ = await partitions.waitForEnd(of: requests, atMost: Self.stepTime)
    }

    private func note(_ offsets: [Int64], of partition: OwnedPartition) {
        guard let first = offsets.first, let last = offsets.last else { return }
        if looksAhead {
            partition.commits.willRead(offsets, beside: partition.inProgress, at: loop.now)
        } else {
            partition.commits.willBegin(first...last, count: offsets.count, at: loop.now)
        }
    }

    /// Writes notes about waiting requests of watched partitions, and waits until they may begin.
    /// - Parameter isRunning: false once the lane takes no more requests.
    func note(_ requests: [RequestInProgress], while isRunning: () -> Bool) async {
        let ofPartitions = Dictionary(grouping: requests.filter(\.partition.commits.isWatched), by: \.partition.id)
        let noting = ofPartitions.values.compactMap { requests -> OwnedPartition? in
            guard let partition = requests.first?.partition else { return nil }
            partition.commits.willBegin(requests.map(\.offset), beside: partition.inProgress, at: loop.now)
            return partition
        }
        _ = await commitNotes(of: noting, mayBegin: isRunning)
        for requests in ofPartitions.values {
            requests.first?.partition.commits.watch.haveBegun(requests.map(\.offset))
        }
        // A record in isolation may have begun meanwhile.
        while runsAlone, isRunning() { await loop.pause(Self.pause) }
    }

    /// Waits until the brokers have the notes of these partitions.
    /// - Returns: `false` if the lane takes no more requests.
    func commitNotes(of noting: [OwnedPartition], mayBegin: () async -> Bool) async -> Bool {
        while noting.contains(where: { !$0.isNoted && partitions.contains($0) && !$0.isLeaving }) {
            guard await mayBegin() else { return false }
            for partition in noting { partition.commits.renewNotes() }
            await commitAllNotes()
            _ = await partitions.waitUntilNoted(noting, atMost: Self.retryPause)
        }
        return await mayBegin()
    }

    /// Commits the notes of all partitions. While one commit is in flight, a single further commit serves all callers.
    private func commitAllNotes() async {
        isCommitDue = true
        guard !isCommitting else { return }
        isCommitting = true
        defer { isCommitting = false }
        while isCommitDue {
            isCommitDue = false
            await delivery.offsets.commitNotes()
        }
    }
}
