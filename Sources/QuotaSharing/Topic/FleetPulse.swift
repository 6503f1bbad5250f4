public import EventLoop
internal import LocationSearch
internal import Resilience

/// One lane's part in its fleet: looks at the clock for the lane's member, has said what that says, and has it hear the
/// others.
///
/// Confined to its lane; not `Sendable`.
public final class FleetPulse {
    private let member: (any FleetMember)?
    private let link: (any FleetSpeaking)?
    private let loop: EventLoop
    private var hasLeft = false
    /// `false` while no request may begin, because there is nothing that it could use and soon will be.
    public private(set) var isReady: Bool
    private let alarm = WakeUp()
    private var nextLook = FleetTerms().tick

    /// - Parameter link: `nil`: nobody hears what is said.
    public init(_ member: (any FleetMember)?, link: (any FleetSpeaking)?, loop: EventLoop) {
        self.member = member
        self.link = link
        self.loop = loop
        isReady = !(member?.usesWords ?? false)
    }

    /// `true` when nothing may be asked before the number of partitions is known.
    public var sharesByPartitions: Bool { member?.sharesByPartitions ?? false }

    // MARK: - The beat

    /// Looks at the clock again and again until `stop`. Returns at once where nothing is shared by words.
    public func beat() async {
        guard let member, member.usesWords else { return }
        await member.setAlarm { [alarm] in alarm.ring() }
        while !hasLeft {
            await look()
            await alarm.rest(for: nextLook, on: loop)
        }
    }

    /// Ends it, with a last word.
    public func stop() async {
        guard let member, member.usesWords, !hasLeft else { return }
        hasLeft = true
        link?.say(await member.leave())
    }

    private func look() async {
        guard let member, !hasLeft else { return }
        let view = await member.look()
        (isReady, nextLook) = (view.isReady, view.nextLook)
        link?.say(view.words)
    }

    // MARK: - What happens

    public func owns(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async {
        await member?.owns(assigned, of: partitions, wasTaken: wasTaken)
        if member?.usesWords == true { await look() }
    }

    public func opened(_ extent: FleetTopicExtent) async {
        guard let member, !hasLeft else { return }
        await member.opened(extent)
        await look()
    }

    public func hear(_ records: [FleetRecord]) async {
        guard let member, !hasLeft else { return }
        await member.hear(records)
        await look()
    }

    public var needsOlderRecords: Bool {
        get async { hasLeft ? false : await member?.needsOlderRecords ?? false }
    }
}
