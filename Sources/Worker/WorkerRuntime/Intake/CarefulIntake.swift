internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Begins records of partitions that were just assigned, or with which a process has crashed: see `CrashWatch`.
///
/// Their records are held, undecoded, while the lane goes on with its other partitions. Nothing more is read of a partition until
/// all that it holds has begun, and nothing begins before the brokers have the note of it. What runs alone runs with nothing else
/// under way in this process: see `LoneTurn`. If the process then crashes by a fault of its own, it says so with its last commit,
/// and the record is found at once.
///
/// Confined to its lane; not `Sendable`.
final class CarefulIntake {
    /// So many requests of watched partitions that were read before begin with one commit. More would make the line at a provider
    /// long, and what is more urgent would wait behind them.
    static let largestStepFromRoom = 8
    /// The most records of a partition that begin with one note.
    private static let largestStep = 64
    /// In a watched partition the next records begin when those before them have ended, or after this time.
    private static let stepTime = Duration.seconds(1)
    /// A commit that was refused is tried again after this time. One that reaches the group just after it has formed anew costs a
    /// member all its partitions, so that many tries would keep the group from coming to rest.
    static let retryPause = Duration.milliseconds(500)
    /// How often the other lanes are looked at meanwhile.
    static let pause = Duration.milliseconds(10)

    let partitions: PartitionTable
    let delivery: any OutcomeDelivery
    let source: any RequestSource
    let loneTurn: LoneTurn
    /// True where records may begin before others that were read earlier: see `WaitingRoom`.
    private let looksAhead: Bool
    /// The lane's number at the turn.
    private(set) var lane = 0
    var groupRest = GroupRest()
    /// True while a partition of this lane runs a record alone, or waits for that. It would be spent care if another one waited for it.
    var isOneAlone = false
    /// The partitions whose records are about to begin.
    private var partitionsInCare = 0
    private var endOfCare = Condition()
    private var isCommitting = false
    private var isCommitDue = false
    let loop: EventLoop
    private let log: Logger

    init(
        partitions: PartitionTable, delivery: any OutcomeDelivery, source: any RequestSource, loneTurn: LoneTurn,
        looksAhead: Bool, loop: EventLoop, log: Logger
    ) {
        self.partitions = partitions
        self.delivery = delivery
        self.source = source
        self.loneTurn = loneTurn
        self.looksAhead = looksAhead
        self.loop = loop
        self.log = log
    }

    /// Takes part in the lane's turns to run a record alone. Called once, before anything is taken.
    /// - Parameter isQuiet: says whether nothing is under way on this lane.
    func join(isQuiet: @escaping LoneTurn.IsQuiet) { lane = loneTurn.add(isQuiet) }

    /// True while a lane of the process runs a record alone: nothing else may begin.
    /// - Parameter isAlone: `true` for a record that this lane runs alone.
    func mustWait(isAlone: Bool) -> Bool { isAlone ? loneTurn.isTaken(besides: lane) : loneTurn.isTaken }

    /// True while this lane, or another one of the process, runs a record alone, or is about to.
    var runsAlone: Bool { loneTurn.isTaken }

    /// How a record is begun, and set aside.
    typealias Begin = (ConsumerRecord, _ how: CrashWatch.Permission) -> RequestInProgress?

    /// Waits while a record may not begin. `false` when the lane takes no more requests: the rest is left to the next owner.
    typealias Wait = (CrashWatch.Permission) async -> Bool

    /// Counts a partition whose records are held from now on. `takeHeld` begins them.
    func willTakeHeld() { partitionsInCare += 1 }

    /// Begins the records that a partition holds, one after another, and has more of it read afterwards.
    /// - Parameters:
    ///   - isOpen: false while no record may run alone, and once the lane takes no more requests.
    ///   - begin: begins a record, or sets it aside. It returns `nil` for one that need not be run.
    func takeHeld(of id: AssignedPartition, mayBegin: Wait, isOpen: () -> Bool, begin: Begin) async {
        defer {
            partitionsInCare -= 1
            endOfCare.broadcast()
        }
        guard let partition = partitions[id.id], partition.id == id else { return }

        while isOurs(partition), let record = partition.held.first, await mayBegin(.runs), isOurs(partition) {
            switch partition.permission(for: record.offset) {
            case .runs: await takeStep(of: partition, mayBegin: mayBegin, begin: begin)
            case .isSetAside:
                partition.held.removeFirst()
                setAside(record, begin: begin)
            case .runsAlone where isOneAlone: await loop.pause(Self.pause)
            case .runsAlone: await takeAlone(record, of: partition, mayBegin: mayBegin, isOpen: isOpen, begin: begin)
            }
        }
        if partition.held.isEmpty { partitions.releaseCare(of: partition) }
    }

    /// Waits until no partition's records are about to begin.
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
            a record is set aside as a dead letter: worker processes crashed while they ran it and nothing else; look at it \
            with locsearch dead-letters, and do not send it again before the cause is mended
            """,
            metadata: ["partition": "\(record.partition.id)", "offset": "\(record.offset)"])
    }

    // MARK: - In small steps

    /// Begins the next records that a partition holds. In a watched partition, waits until they have ended, or for a second.
    /// - Parameter count: So many begin although they were to run alone.
    func takeStep(
        of partition: OwnedPartition, atLeast count: Int = 0, mayBegin: Wait, begin: Begin
    ) async {
        // A slice of the list would have each removal copy the rest of it.
        let next = Array(partition.held.prefix(Self.largestStep))
        let others = next.dropFirst(count).prefix { partition.permission(for: $0.offset) == .runs }
        let records = next.prefix(count) + others
        if partition.needsCare {
            note(records.map(\.offset), of: partition)
            guard await commitNotes(of: [partition], mayBegin: { await mayBegin(.runs) }) else { return }
        }

        var requests: [RequestInProgress] = []
        for record in records {
            guard await mayBegin(.runs), isOurs(partition) else { return }
            partition.held.removeFirst()
            if let request = begin(record, .runs) { requests.append(request) }
            partition.watch.haveBegun(CollectionOfOne(record.offset))
        }
        // A request that waits to begin is noted again then.
        guard partition.isWatched, !looksAhead else { return }
        _ = await partitions.waitForEnd(of: requests, atMost: Self.stepTime)
    }

    private func note(_ offsets: [Int64], of partition: OwnedPartition) {
        guard let first = offsets.first, let last = offsets.last else { return }
        if looksAhead {
            partition.willRead(offsets, at: loop.now)
        } else {
            partition.willBegin(first...last, count: offsets.count, at: loop.now)
        }
    }

    /// Notes requests that were read before, as far as their partitions are watched, and waits until they may begin.
    /// - Parameter isRunning: false once the lane takes no more requests.
    func note(_ requests: [RequestInProgress], while isRunning: () -> Bool) async {
        let ofPartitions = Dictionary(grouping: requests.filter(\.partition.isWatched), by: \.partition.id)
        let noting = ofPartitions.values.compactMap { requests in
            requests.first?.partition.willBegin(requests.map(\.offset), at: loop.now)
            return requests.first?.partition
        }
        _ = await commitNotes(of: noting, mayBegin: isRunning)
        for requests in ofPartitions.values { requests.first?.partition.watch.haveBegun(requests.map(\.offset)) }
        // One that runs alone may have begun meanwhile.
        while runsAlone, isRunning() { await loop.pause(Self.pause) }
    }

    /// Waits until the brokers have what is noted of some partitions.
    /// - Returns: `false` when the lane takes no more requests.
    func commitNotes(of noting: [OwnedPartition], mayBegin: () async -> Bool) async -> Bool {
        if isPutBack(.noteNotAwaited) { return await mayBegin() }
        while noting.contains(where: { !$0.isNoted && partitions.contains($0) && !$0.isLeaving }) {
            guard await mayBegin() else { return false }
            for partition in noting { partition.renewNotes() }
            await commitAllNotes()
            _ = await partitions.waitUntilNoted(noting, atMost: Self.retryPause)
        }
        return await mayBegin()
    }

    /// Commits the notes of all partitions. While a commit is under way, one more serves all that ask for one.
    private func commitAllNotes() async {
        isCommitDue = true
        guard !isCommitting else { return }
        isCommitting = true
        defer { isCommitting = false }
        while isCommitDue {
            isCommitDue = false
            await delivery.commitNotes()
        }
    }
}
