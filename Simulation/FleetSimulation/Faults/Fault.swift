import SimulatedKafkaClients
import SimulatedLoop

/// A fault, or an operator's action, at one time of a schedule.
public struct Fault: Sendable, CustomStringConvertible {
    /// The kind of a fault. Members are counted from 0; a process that ended is replaced by another one with the same member number.
    enum Kind: Sendable {
        /// kill -9; another process takes the member's place after `back` seconds.
        case kill(member: Int, back: Double)
        /// SIGSTOP, and SIGCONT after `seconds`.
        case stop(member: Int, seconds: Double)
        /// Blocks traffic between a member and a broker, in one direction or both.
        case cut(member: Int, broker: Int32, SimulatedNetwork.Direction?, seconds: Double)
        /// Stops a broker. Its partitions get other leaders after `failover` seconds, and it comes back.
        case brokerDown(Int32, failover: Double, seconds: Double)
        /// Moves the coordinators of the group and of all transactions to another broker.
        case coordinatorsMove(to: Int32, loading: Double)
        /// Drains a member, and replaces it by another process.
        case deploy(member: Int)
        /// Adds a member, or removes one permanently.
        case scale(up: Bool)
        /// Denies all writes to a topic.
        case topicRefuses(String, seconds: Double)
        /// A fault of the fleet topic.
        case fleetTopic(FleetTopicTrouble, seconds: Double)
        /// The provider answers nothing, or fails every call.
        case providerFails(hangs: Bool, seconds: Double)
        /// Sets a member's wall clock by `seconds`. The clock for deadlines and limits does not change.
        case clockStep(member: Int, seconds: Double)
        /// An operator sets another budget for the day; `nil` resets the day's calls to zero.
        case budgetOrder(callsOfDay: Int?)
        /// An operator sends all dead letters back to the requests topic.
        case redrive
        /// An operator stops all workers, moves the group's offsets back by `records` in each partition, and starts the workers again.
        case offsetsBack(records: Int64)
        /// Kills all members. An operator or a tool then commits the group's offsets without metadata before new processes start.
        case metadataLost
        /// Kills all members. A tool then commits offsets that lie `records` before the group's, with the same metadata.
        ///
        /// MirrorMaker does the same with the offsets of another cluster. New processes start after that.
        case metadataCopied(records: Int64)
        case cluster(ClusterFault)
        /// The answer to a request ends each process that reads it, `seconds` after the call: by a trap, or
        /// as the out-of-memory killer does.
        case poison(request: Int, traps: Bool, seconds: Double)
    }

    /// The faults of the fleet topic.
    enum FleetTopicTrouble: String, Sendable, CaseIterable {
        /// The brokers deny reads.
        case refusesReaders = "fleet topic refuses readers"
        /// The brokers deny writes.
        case refusesWriters = "fleet topic refuses writers"
        /// The topic is deleted, and created again after a while.
        case remade = "fleet topic recreated"
        /// The records before the current budget day are deleted, as retention does.
        case cut = "fleet topic truncated"
        /// The records of the next few seconds are written a second time after that.
        case doubled = "fleet topic records duplicated"

        /// The faults that may cause a failure.
        static let harmful: [FleetTopicTrouble] = [.refusesReaders, .refusesWriters, .remade, .cut]
    }

    /// Seconds from the beginning.
    var time: Double
    var kind: Kind

    /// The name used in the coverage table.
    var name: String {
        switch kind {
        case .kill: "kill"
        case .stop: "stop"
        case .cut(_, _, nil, _): "cut"
        case .cut: "cut one way"
        case .brokerDown: "broker down"
        case .coordinatorsMove: "coordinators move"
        case .deploy: "deploy"
        case .scale(let up): up ? "scale up" : "scale down"
        case .topicRefuses: "topic refuses"
        case .fleetTopic(let trouble, _): trouble.rawValue
        case .providerFails(let hangs, _): hangs ? "provider hangs" : "provider fails"
        case .clockStep: "clock step"
        case .budgetOrder(let calls): calls == nil ? "budget reset" : "budget set"
        case .redrive: "redrive"
        case .offsetsBack: "offsets back"
        case .metadataLost: "metadata lost"
        case .metadataCopied: "metadata copied"
        case .cluster(let fault): fault.name
        case .poison(_, let traps, _): traps ? "record that traps" : "record that kills"
        }
    }

    /// True for faults that must not disturb anything, so that the strictest rules still apply.
    var isHarmless: Bool {
        switch kind {
        case .clockStep, .budgetOrder, .redrive, .fleetTopic(.doubled, _): true
        default: false
        }
    }

    /// True for the actions of operators in normal operation.
    var isGraceful: Bool {
        switch kind {
        case .deploy, .scale, .offsetsBack: true
        case .cluster(let fault): fault.isGraceful
        default: isHarmless
        }
    }

    /// True if the requests topic is deleted and created again.
    var recreatesRequests: Bool {
        if case .cluster(.makeAgain(SimulatedWorker.requests, _)) = kind { true } else { false }
    }

    /// True if the offsets of requests begin again or go back.
    var movesOffsets: Bool {
        if case .offsetsBack = kind { true } else { recreatesRequests }
    }

    /// The names of all faults.
    static let names =
        [
            "kill", "stop", "cut", "cut one way", "broker down", "coordinators move", "deploy", "scale up",
            "scale down",
            "topic refuses", "provider hangs", "provider fails", "clock step", "budget set", "budget reset", "redrive",
            "offsets back", "metadata lost", "metadata copied", "record that traps", "record that kills",
        ] + FleetTopicTrouble.allCases.map(\.rawValue)

    public var description: String {
        switch kind {
        case .kill(let member, let back): "kill -9 of member \(member), replaced after \(back.short) s"
        case .stop(let member, let seconds): "member \(member) is frozen for \(seconds.short) s"
        case .cut(let member, let broker, let direction, let seconds):
            "member \(member) and broker \(broker) are cut off (\(direction.map { "\($0)" } ?? "both ways")) for \(seconds.short) s"
        case .brokerDown(let broker, let failover, let seconds):
            "broker \(broker) is down for \(seconds.short) s, failover after \(failover.short) s"
        case .coordinatorsMove(let broker, let loading):
            "coordinators move to broker \(broker), which loads for \(loading.short) s"
        case .deploy(let member): "member \(member) is replaced by a deploy"
        case .scale(let up): up ? "one more member joins" : "a member leaves"
        case .topicRefuses(let topic, let seconds): "topic \(topic) refuses records for \(seconds.short) s"
        case .fleetTopic(.cut, _): "records from before the current budget day are deleted from the fleet topic"
        case .fleetTopic(.remade, let seconds): "the fleet topic is deleted, and recreated after \(seconds.short) s"
        case .fleetTopic(.doubled, let seconds):
            "records written to the fleet topic within \(seconds.short) s are written a second time after that"
        case .fleetTopic(let trouble, let seconds): "the \(trouble.rawValue) for \(seconds.short) s"
        case .providerFails(let hangs, let seconds):
            "the provider \(hangs ? "hangs" : "fails every call") for \(seconds.short) s"
        case .clockStep(let member, let seconds): "the wall clock of member \(member) changes by \(seconds.short) s"
        case .budgetOrder(let calls):
            calls.map { "the budget of the day is set to \($0) calls" } ?? "the count of the day's calls is reset"
        case .redrive: "dead letters go back to the requests topic"
        case .offsetsBack(let records):
            "all workers stop, the group's offsets move back by \(records) records, and the workers start again"
        case .metadataLost: "all members are killed, and the group's offsets are committed without their metadata"
        case .metadataCopied(let records):
            "all members are killed, and offsets \(records) records before the group's are committed with the same metadata"
        case .cluster(let fault): fault.description
        case .poison(let number, let traps, let seconds):
            "r\(number) crashes each process that runs it (\(traps ? "a trap" : "a kill")), \(seconds.threeDecimals) s after the call"
        }
    }
}

extension Fault.Kind {
    static func draw(_ random: inout SeededGenerator, members: Int, brokers: Int32) -> Fault.Kind {
        let member = Int.random(in: 0..<members, using: &random)
        let broker = Int32.random(in: 1...brokers, using: &random)
        let seconds = Double.random(in: 0.2...8, using: &random)

        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return .kill(member: member, back: seconds)
        case 2: return .stop(member: member, seconds: seconds)
        case 3:
            let direction = random.chance(0.5) ? nil : SimulatedNetwork.Direction.allCases.randomElement(using: &random)
            return .cut(member: member, broker: broker, direction, seconds: seconds)
        case 4:
            return .brokerDown(broker, failover: Double.random(in: 0.1...seconds, using: &random), seconds: seconds)
        case 5: return .coordinatorsMove(to: broker, loading: Double.random(in: 0...2, using: &random))
        case 6, 7: return .deploy(member: member)
        case 8: return .scale(up: Bool.random(using: &random))
        default: return .providerFails(hangs: Bool.random(using: &random), seconds: seconds)
        }
    }
}

extension Double {
    /// The value with one decimal.
    var short: String { "\((self * 10).rounded() / 10)" }
}
