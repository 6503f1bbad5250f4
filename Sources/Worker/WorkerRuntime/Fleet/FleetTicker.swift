package import EventLoop
internal import LocationSearch
package import QuotaSharing

/// One lane's connection to its fleet. It ticks the lane's member, publishes the member's messages, and passes it the
/// messages of all members.
///
/// Confined to its lane; not `Sendable`.
package final class FleetTicker {
    private let member: (any FleetMember)?
    private let link: FleetLink?
    private let loop: EventLoop
    private var hasLeft = false
    /// `false` while no request may begin, because the member has no quota yet.
    package private(set) var isReady: Bool
    private let wakeUp = WakeUp()
    private var nextTick = LeaseTimes.tick

    /// - Parameter link: `nil`: messages are discarded.
    package init(_ member: (any FleetMember)?, link: FleetLink?, loop: EventLoop) {
        (self.member, self.link, self.loop) = (member, link, loop)
        isReady = !(member?.usesMessages ?? false)
    }

    /// `true` if no provider may be called before the number of partitions is known.
    package var sharesByPartitions: Bool { member?.sharesByPartitions ?? false }

    // MARK: - Ticking

    /// Ticks until `stop`. Returns at once if quota is not shared by messages.
    package func run() async {
        guard let member, member.usesMessages else { return }
        await member.onWakeUp { [wakeUp] in wakeUp.wake() }
        while !hasLeft {
            await tick()
            await wakeUp.rest(for: nextTick, on: loop)
        }
    }

    /// Ends the ticking, and publishes the member's last messages.
    package func stop() async {
        guard let member, member.usesMessages, !hasLeft else { return }
        hasLeft = true
        link?.publish(await member.leave())
    }

    private func tick() async {
        guard let member, !hasLeft else { return }
        let result = await member.tick()
        (isReady, nextTick) = (result.isReady, result.nextTick)
        link?.publish(result.messages)
    }

    // MARK: - Events

    package func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async {
        await member?.assign(assigned, of: partitions, wasTaken: wasTaken)
        if member?.usesMessages == true { await tick() }
    }

    /// - Returns: `true` if the topic must be read from its oldest record on.
    package func receive(_ news: FleetNews) async -> Bool {
        guard let member, !hasLeft else { return false }
        let needsOlder = await member.receive(news)
        await tick()
        return needsOlder
    }
}
