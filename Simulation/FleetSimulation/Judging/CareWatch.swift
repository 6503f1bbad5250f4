import Basics
import WorkerRuntime

/// Measures for how long a lane leaves records of its other partitions unread while careful intake keeps those of one.
///
/// Only time counts in which nothing else keeps the lane from reading: it is open, has room, and no record runs in
/// isolation. An idle lane reads a record within a millisecond.
struct CareWatch {
    /// The time between two looks at a lane.
    static let interval = Duration.milliseconds(50)
    /// A lane may check only once a second whether it is open again.
    private static let timeToNotice = Duration.milliseconds(1100)

    /// The time in which records were read or should have been.
    private(set) var demanded = Duration.zero
    /// The part of that time in which none was read although one was there.
    private(set) var delayed = Duration.zero
    private var lastClosed = Instant(nanoseconds: 0)
    /// The last look; `nil` if its time does not count.
    private var last: (time: Instant, reads: Int, hadUnread: Bool)?

    mutating func look(at now: Instant, _ intake: IntakeStatus, isFrozen: Bool, _ source: SimulatedSource) {
        if !intake.isOpen || isFrozen { lastClosed = now }
        let counts =
            intake.partitionsInCare > 0 && !intake.runsAlone && intake.hasRoom
            && lastClosed.duration(to: now) >= Self.timeToNotice
        let present = (time: now, reads: source.reads, hadUnread: source.hasUnreadRecords)

        if counts, let last {
            let time = last.time.duration(to: now)
            let hasRead = last.reads != present.reads
            let isDelayed = !hasRead && last.hadUnread && present.hadUnread
            if hasRead || isDelayed { demanded += time }
            if isDelayed { delayed += time }
        }
        last = counts ? present : nil
    }
}

/// A rule about the partitions beside one whose former owner crashed.
extension Judge {
    /// The fraction of the demanded time in which other partitions are read.
    private static let leastPace = 0.95
    /// A shorter delay is not measured well enough.
    private static let leastDelay = Duration.milliseconds(200)

    /// Checks that careful intake of one partition does not slow down the others of its lane.
    mutating func judgeCare() {
        for worker in world.everyWorker {
            for (number, watch) in worker.lanes.map(\.careWatch).enumerated() where watch.delayed >= Self.leastDelay {
                guard watch.delayed > watch.demanded * (1 - Self.leastPace) else { continue }
                find(
                    .delayedByCare,
                    "lane \(number) of \(worker.name) left records unread for \(watch.delayed) of \(watch.demanded)")
            }
        }
    }
}
