internal import Basics
internal import EventLoop
internal import Kafka
internal import Logging

/// Begins records of partitions that were just assigned, or with which a process has crashed: see `CrashWatch`.
///
/// Nothing begins before the brokers have the note of it. What runs alone runs with nothing else under way in this process: see
/// `LoneTurn`. If the process then crashes by a fault of its own, it says so with its last commit, and the record is found at once.
///
/// Confined to its lane; not `Sendable`.
final class CarefulIntake {
    /// So many requests of watched partitions that were read before begin with one commit. More would make the line at a provider
    /// long, and what is more urgent would wait behind them.
    static let largestStepFromRoom = 8
    /// In a watched partition the next records begin when those before them have ended, or after this time.
    private static let stepTime = Duration.seconds(1)
    /// What is under way has so long to end before a record runs alone: longer than any deadline.
    private static let timeToGetQuiet = Duration.seconds(65)
    /// A commit that was refused is tried again after this time. One that reaches the group just after it has formed anew costs a
    /// member all its partitions, so that many tries would keep the group from coming to rest.
    private static let retryPause = Duration.milliseconds(500)
    /// How often the other lanes are looked at meanwhile.
    private static let pause = Duration.milliseconds(10)

    private let partitions: PartitionTable
    private let delivery: any OutcomeDelivery
    private let source: any RequestSource
    private let loneTurn: LoneTurn
    /// True where records may begin before others that were read earlier: see `WaitingRoom`.
    private let looksAhead: Bool
    /// The lane's number at the turn.
    private var lane = 0
    private var groupRest = GroupRest()
    private let loop: EventLoop
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

    /// True while another lane of the process runs a record alone: nothing may begin.
    var mustWait: Bool { loneTurn.isTaken(besides: lane) }

    /// True while this lane, or another one of the process, runs a record alone, or is about to.
    var runsAlone: Bool { loneTurn.isTaken }

    /// How a record is begun, and set aside.
    typealias Begin = (ConsumerRecord, _ how: CrashWatch.Permission) -> RequestInProgress?

    /// Begins some records, those of a partition one after another.
    /// - Parameters:
    ///   - mayBegin: waits while nothing may begin. `false` when the lane takes no more requests: the rest is left to the next owner.
    ///   - isOpen: false while nothing may begin, and once the lane takes no more requests.
    ///   - begin: begins a record, or sets it aside. It returns `nil` for one that need not be run.
    func take(
        _ records: some Sequence<ConsumerRecord>, mayBegin: () async -> Bool, isOpen: () -> Bool, begin: Begin
    ) async {
        var beside: [ConsumerRecord] = []
        for record in records {
            // What ends counts as done up to its offset, so those before it have to begin before it.
            if beside.contains(where: { $0.partition == record.partition }), permission(for: record) != .runs {
                guard await takeStep(beside, mayBegin: mayBegin, begin: begin) else { return }
                beside = []
            }

            guard let partition = partitions.owner(of: record) else { continue }
            switch partition.permission(for: record.offset) {
            case .runs: beside.append(record)
            case .isSetAside: setAside(record, begin: begin)
            case .runsAlone:
                if await mayBeAlone(record.offset, of: partition, mayBegin: mayBegin) {
                    if await noteAlone(record.offset, of: partition, mayBegin: mayBegin, isOpen: isOpen) {
                        await runAlone(record, of: partition, begin: begin)
                    }
                } else {
                    beside.append(record)
                }
                loneTurn.end(of: lane)
                guard await mayBegin() else { return }
            }
        }
        if !beside.isEmpty { await takeStep(beside, mayBegin: mayBegin, begin: begin) }
    }

    private func permission(for record: ConsumerRecord) -> CrashWatch.Permission? {
        partitions.owner(of: record)?.permission(for: record.offset)
    }

    private func setAside(_ record: ConsumerRecord, begin: Begin) {
        guard begin(record, .isSetAside) != nil else { return }
        log.error(
            """
            a record is set aside as a dead letter: worker processes crashed while they ran it and nothing else; look at it \
            with locsearch dead-letters, and do not send it again before the cause is mended
            """,
            metadata: ["partition": "\(record.partition.id)", "offset": "\(record.offset)"])
    }

    // MARK: - Alone

    /// Notes that a record is about to run alone. While the intake is paused no such note stands: the record would be blamed if the worker
    /// was killed, although it has not run.
    /// - Returns: `false` when the lane takes no more requests.
    private func noteAlone(
        _ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool, isOpen: () -> Bool
    ) async -> Bool {
        while await mayBegin() {
            partition.willRunAlone(offset, at: loop.now)
            if await commitNotes(of: [partition], mayBegin: isOpen) { return true }
            partition.watch.withdrawAlone()
            await tryCommit(of: partition)
        }
        return false
    }

    /// Runs a record with nothing else under way in the process. One that takes longer than its turn goes on beside others.
    private func runAlone(_ record: ConsumerRecord, of partition: OwnedPartition, begin: Begin) async {
        if let commit = partition.commitOnCrash(with: record.offset), !isPutBack(.crashSaysNothing) {
            await source.commitOnCrash((partition: partition.id, next: commit))
        }
        var mustTakeBack = partition.isSuspect(record.offset)
        if let request = begin(record, .runsAlone) {
            let start = loop.now
            if await !partitions.waitForEnd(of: [request], atMost: partition.watch.nextTurn) { mustTakeBack = true }
            partition.watch.spendCare(start.duration(to: loop.now))
            if request.fate != .abandoned { partition.watch.hasRunAlone(record.offset) }
        }
        await source.commitOnCrash(nil)
        // The note of another record goes with the next one's, within milliseconds. One that goes on beside others must not be blamed for
        // the partition's loss meanwhile.
        if mustTakeBack { await tryCommit(of: partition) }
    }

    /// Waits until a record may run alone.
    ///
    /// One that a process has ended with before waits for the group to be at rest. While the group forms, the note that it runs cannot
    /// be taken back, so that it would be blamed for the end of a worker that is killed meanwhile, however well the record has ended.
    /// - Returns: `false` where it is to begin beside others, so that no end is put down to it.
    private func mayBeAlone(
        _ offset: Int64, of partition: OwnedPartition, mayBegin: () async -> Bool
    ) async -> Bool {
        guard partition.isSuspect(offset) else { return await waitUntilAlone(for: partition) }
        guard await waitForRest(of: partition, mayBegin: mayBegin), await waitUntilAlone(for: partition) else {
            return false
        }
        // What was under way may have taken its time to end.
        return await waitForRest(of: partition, mayBegin: mayBegin)
    }

    /// Waits until the group is at rest.
    /// - Returns: `false` when that took too long.
    private func waitForRest(of partition: OwnedPartition, mayBegin: () async -> Bool) async -> Bool {
        guard groupRest.isWorthWaiting(at: loop.now) else { return false }
        let start = loop.now
        defer { partition.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.watch.careLeft, GroupRest.longestWait)

        while loop.now < end, partitions.contains(partition), await mayBegin() {
            let isPrompt = await tryCommit(of: partition)
            if groupRest.isReached(at: loop.now) { return true }
            await loop.pause(isPrompt ? GroupRest.promptCommit / 2 : Self.retryPause)
        }
        groupRest.noteVainWait(since: start, at: loop.now)
        return false
    }

    /// Commits a partition's notes, even where the brokers have them, to see whether the group takes a commit at once.
    @discardableResult
    private func tryCommit(of partition: OwnedPartition) async -> Bool {
        let asked = loop.now
        partition.repeatNotes()
        await delivery.commitNotes()
        let isNoted = await partitions.waitUntilNoted([partition], atMost: GroupRest.promptCommit)
        groupRest.noteCommit(askedAt: asked, isCommitted: isNoted, at: loop.now)
        return isNoted
    }

    /// Waits until nothing is under way in the process, and has the other lanes begin nothing.
    /// - Returns: `false` when that took too long: then no end of the process may be put down to the record.
    private func waitUntilAlone(for partition: OwnedPartition) async -> Bool {
        if isPutBack(.aloneBesideOthers) { return loneTurn.take(for: lane) }
        let start = loop.now
        defer { partition.watch.spendCare(start.duration(to: loop.now)) }
        let end = start + min(partition.watch.careLeft, Self.timeToGetQuiet)

        while !loneTurn.take(for: lane) {
            guard loop.now < end else { return false }
            await loop.pause(Self.pause)
        }

        guard await partitions.waitUntilQuiet(atMost: loop.now.duration(to: end)) else { return false }
        while await !loneTurn.isQuiet(besides: lane) {
            guard loop.now < end else { return false }
            await loop.pause(Self.pause)
        }
        return true
    }

    // MARK: - In small steps

    /// - Returns: `false` when the lane takes no more requests.
    @discardableResult
    private func takeStep(_ records: [ConsumerRecord], mayBegin: () async -> Bool, begin: Begin) async -> Bool {
        var offsets: [AssignedPartition: [Int64]] = [:]
        for record in records { offsets[record.partition, default: []].append(record.offset) }
        let noting = offsets.compactMap { id, offsets -> OwnedPartition? in
            guard let partition = partitions[id.id], partition.id == id, partition.needsCare,
                let first = offsets.min(), let last = offsets.max()
            else { return nil }
            if looksAhead {
                partition.willRead(offsets, at: loop.now)
            } else {
                partition.willBegin(first...last, count: offsets.count, at: loop.now)
            }
            return partition
        }
        guard await commitNotes(of: noting, mayBegin: mayBegin) else { return false }

        let requests = records.compactMap { begin($0, .runs) }
        for partition in noting { partition.watch.haveBegun(offsets[partition.id] ?? []) }
        // What was read may wait for long before it begins, and is noted again then.
        if looksAhead { return true }
        let watched = requests.filter { $0.partition.isWatched }
        if !watched.isEmpty { _ = await partitions.waitForEnd(of: watched, atMost: Self.stepTime) }
        return true
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
    private func commitNotes(of noting: [OwnedPartition], mayBegin: () async -> Bool) async -> Bool {
        if isPutBack(.noteNotAwaited) { return await mayBegin() }
        while noting.contains(where: { !$0.isNoted && partitions.contains($0) && !$0.isLeaving }) {
            guard await mayBegin() else { return false }
            for partition in noting { partition.renewNotes() }
            await delivery.commitNotes()
            _ = await partitions.waitUntilNoted(noting, atMost: Self.retryPause)
        }
        return await mayBegin()
    }
}
