import Foundation
import SimulatedKafka
import TestSupport

/// Plays the steps of Simulation/conformance.json to the model, as ops/experiments/harness/conformance.py does to a cluster.
final class ConformancePlayer {
    typealias Step = [String: Any]
    typealias Answer = [String: Any]

    struct Scenario {
        let name: String
        let steps: [Step]
    }

    static func scenarios() throws -> [Scenario] {
        let file = Repository.folder.appending(path: "Simulation/conformance.json")
        let top = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return (top?["scenarios"] as? [[String: Any]] ?? []).map {
            Scenario(name: $0["name"] as? String ?? "", steps: $0["steps"] as? [Step] ?? [])
        }
    }

    private let cluster: SimulatedCluster
    private let check: ClusterRules.MemberEpochCheck
    private var names: [String: Any] = [
        "topic": "topic", "group": "group", "tx": "tx", "member1": "member-a", "member2": "member-b",
    ]
    private var started: [String: Box<Answer>] = [:]

    init(_ check: ClusterRules.MemberEpochCheck) {
        var rules = ClusterRules()
        rules.memberEpochCheck = check
        if check == .sinceAssignment { rules.consumerAssignmentInterval = ClusterRules.second }
        rules.initialRebalanceDelay = .seconds(3)
        self.check = check
        cluster = SimulatedCluster(rules: rules)
    }

    /// Runs a step.
    /// - Returns: The error in the answer; `nil` if there is none.
    func play(_ step: Step) -> String? {
        if step["do"] as? String == "wait" {
            pass(Int64(number("seconds", step) ?? 0) * ClusterRules.second)
            return nil
        }
        if let name = step["start"] as? String {
            let answer = Box<Answer>()
            perform(step) { answer.value = $0 }
            started[name] = answer
            return nil
        }

        var problem = attempt(step)
        var rounds = 0
        while problem != nil, step["until"] as? Bool == true, rounds < 1_000 {
            pass(10 * ClusterRules.millisecond)
            rounds += 1
            problem = attempt(step)
        }
        return problem
    }

    private func pass(_ time: Int64) { cluster.advance(to: cluster.now + time) }

    private func attempt(_ step: Step) -> String? {
        let box: Box<Answer>
        if step["do"] as? String == "finish" {
            box = started[step["started"] as? String ?? ""] ?? Box()
        } else {
            box = Box()
            perform(step) { box.value = $0 }
        }
        for _ in 0..<600 where box.value == nil { pass(100 * ClusterRules.millisecond) }
        guard let answer = box.value else { return "no answer in a minute" }
        return judge(answer, step)
    }

    private func judge(_ answer: Answer, _ step: Step) -> String? {
        let expected = (step["expect"] as? [String: String])?["\(check)"] ?? step["expect"] as? String ?? "NONE"
        guard answer["error"] as? String == expected else {
            return "\(answer["error"] ?? "nothing") where \(expected) is expected"
        }
        for (field, wanted) in step["see"] as? [String: Any] ?? [:] {
            let (seen, wanted) = (answer[field] ?? "nothing", resolve(wanted))
            // In Foundation, JSON numbers and `true` have the same type.
            let isSame =
                (seen as? Bool).map { $0 == (wanted as? NSNumber)?.boolValue } ?? ("\(seen)" == "\(wanted)")
            guard isSame else { return "\(field) is \(seen) where \(wanted) is expected" }
        }
        for (name, field) in step["bind"] as? [String: String] ?? [:] { names[name] = answer[field] }
        return nil
    }

    // MARK: - Values

    /// `$name`, `$name+1`, `$name.0` and `$name-2` refer to bound values; the last form is a different name if the value is text.
    private func resolve(_ value: Any) -> Any {
        guard let text = value as? String, text.hasPrefix("$") else {
            if let list = value as? [Any] { return list.map(resolve) }
            return value
        }
        let body = text.dropFirst()
        let name = String(body.prefix { $0.isLetter || $0.isNumber })
        let rest = body.dropFirst(name.count)
        guard let bound = names[name] else { return text }
        if rest.isEmpty { return bound }
        if rest.hasPrefix("."), let index = Int(rest.dropFirst()), let list = bound as? [Any] { return list[index] }
        if let number = bound as? Int, let offset = Int(rest) { return number + offset }
        return "\(bound)\(rest)"
    }

    private func text(_ key: String, _ step: Step) -> String? { step[key].map { "\(resolve($0))" } }
    private func number(_ key: String, _ step: Step) -> Int? { step[key].flatMap { Int("\(resolve($0))") } }

    private func partition(_ step: Step) -> PartitionID {
        PartitionID(text("topic", step) ?? "", Int32(number("partition", step) ?? 0))
    }

    private func identity(_ step: Step) -> ProducerIdentity? {
        guard let id = number("producerId", step) else { return nil }
        return ProducerIdentity(id: Int64(id), epoch: Int16(number("epoch", step) ?? 0))
    }

    private func transaction(_ step: Step) -> TransactionName {
        TransactionName(text("transaction", step) ?? "", identity(step) ?? .none)
    }

    private func member(_ step: Step) -> MemberName {
        MemberName(
            id: text("member", step) ?? "", instanceID: text("instance", step),
            generation: Int32(number("generation", step) ?? -1))
    }

    private func isolation(_ step: Step) -> FetchRequest.Isolation {
        text("isolation", step) == "committed" ? .readCommitted : .readUncommitted
    }

    // MARK: - Requests

    private func perform(_ step: Step, _ reply: @escaping (Answer) -> Void) {
        let plain = { (error: ErrorCode) in reply(["error": error.protocolName]) }
        let (group, topic) = (text("group", step) ?? "", text("topic", step) ?? "")
        switch step["do"] as? String {
        case "createTopic":
            let settings = TopicSettings(partitions: Int32(number("partitions", step) ?? 1))
            plain(cluster.createTopic(CreateTopicRequest(topic, settings)).error)
        case "createPartitions":
            plain(
                cluster.createPartitions(CreatePartitionsRequest(topic, count: Int32(number("count", step) ?? 0))).error
            )
        case "deleteTopic": plain(cluster.deleteTopic(DeleteTopicRequest(topic)).error)
        case "deleteRecords", "produce", "fetch", "listOffsets": performOnRecords(step, reply)
        case "joinGroup": join(step, reply)
        case "syncGroup":
            var assignments: [String: [UInt8]] = [:]
            for (name, value) in step["assignments"] as? [String: String] ?? [:] {
                assignments["\(resolve(name))"] = Array(value.utf8)
            }
            cluster.syncGroup(SyncGroupRequest(group, as: member(step), assignments: assignments)) {
                reply(["error": $0.error.protocolName, "assignment": String(decoding: $0.assignment, as: UTF8.self)])
            }
        case "heartbeat": plain(cluster.heartbeat(HeartbeatRequest(group, as: member(step))).error)
        case "leaveGroup":
            let request = LeaveGroupRequest(group, memberID: member(step).id, instanceID: member(step).instanceID)
            plain(cluster.leaveGroup(request).error)
        case "consumerGroupHeartbeat": beat(step, reply)
        case "offsetCommit":
            let offsets = [partition(step): offsetToCommit(step)]
            let version = Int16(number("version", step) ?? 7)
            let request = OffsetCommitRequest(group, as: member(step), offsets, version: version)
            plain(cluster.offsetCommit(request).error)
        case "offsetFetch":
            let request = OffsetFetchRequest(
                group, [partition(step)], requireStable: step["requireStable"] as? Bool == true)
            let answer = cluster.offsetFetch(request)
            let result = answer.results[partition(step)]
            let error = answer.error == .none ? result?.error ?? .none : answer.error
            reply([
                "error": error.protocolName, "offset": result?.offset ?? -1,
                "metadataBytes": result?.metadata.utf8.count ?? 0,
            ])
        default: performOnTransaction(step, reply)
        }
    }

    private func offsetToCommit(_ step: Step) -> OffsetToCommit {
        let metadata = String(repeating: "x", count: number("metadataBytes", step) ?? 0)
        return OffsetToCommit(Int64(number("offset", step) ?? 0), metadata: metadata)
    }

    private func performOnRecords(_ step: Step, _ reply: @escaping (Answer) -> Void) {
        let (id, offset) = (partition(step), Int64(number("offset", step) ?? 0))
        switch step["do"] as? String {
        case "deleteRecords":
            let result = cluster.deleteRecords(DeleteRecordsRequest([id: offset])).results[id]
            reply(["error": (result?.error ?? .none).protocolName, "lowWatermark": result?.lowWatermark ?? -1])
        case "produce":
            let batch = ProduceRequest.Batch(
                id, (step["values"] as? [String] ?? []).map { SimulatedRecord(value: Array($0.utf8)) },
                producer: identity(step) ?? .none, baseSequence: Int32(number("sequence", step) ?? -1),
                isTransactional: step["transaction"] != nil)
            let request = ProduceRequest([batch], transactionalID: text("transaction", step))
            let result = cluster.produce(request).results[0]
            reply(["error": result.error.protocolName, "baseOffset": result.baseOffset])
        case "fetch":
            let request = FetchRequest([.init(id, offset: offset)], isolation: isolation(step))
            let part = cluster.fetch(request).partitions[0]
            let records = part.entries.filter { entry in
                entry.marker == nil
                    && !part.aborted.contains {
                        $0.producerID == entry.producerID && ($0.firstOffset...$0.lastOffset).contains(entry.offset)
                    }
            }
            reply([
                "error": part.error.protocolName, "highWatermark": part.highWatermark,
                "lastStableOffset": part.lastStableOffset, "logStart": part.logStart,
                "values": records.map { String(decoding: $0.record.value ?? [], as: UTF8.self) },
            ])
        default:
            let query: ListOffsetsRequest.Query = text("at", step) == "latest" ? .latest : .earliest
            let request = ListOffsetsRequest([id: query], isolation: isolation(step))
            let result = cluster.listOffsets(request).results[id]
            reply(["error": (result?.error ?? .none).protocolName, "offset": result?.offset ?? -1])
        }
    }

    private func join(_ step: Step, _ reply: @escaping (Answer) -> Void) {
        let protocols = (step["protocols"] as? [String] ?? []).map { JoinGroupRequest.Proposal($0) }
        var request = JoinGroupRequest(text("group", step) ?? "", protocols: protocols)
        request.memberID = member(step).id
        request.instanceID = member(step).instanceID
        request.sessionTimeout = Int64(number("session", step) ?? 30_000) * ClusterRules.millisecond
        request.rebalanceTimeout = Int64(number("rebalance", step) ?? 60_000) * ClusterRules.millisecond
        cluster.joinGroup(request) {
            reply([
                "error": $0.error.protocolName, "memberId": $0.memberID, "generation": $0.generation,
                "isLeader": !$0.memberID.isEmpty && $0.leader == $0.memberID, "members": $0.members.count,
            ])
        }
    }

    private func beat(_ step: Step, _ reply: @escaping (Answer) -> Void) {
        let (topic, epoch) = (text("topic", step) ?? "", Int32(number("epoch", step) ?? 0))
        var request = ConsumerGroupHeartbeatRequest(
            text("group", step) ?? "", memberID: member(step).id, memberEpoch: epoch)
        request.topics = (step["topics"] as? [Any]).map { $0.map { "\(resolve($0))" } }
        request.rebalanceTimeout = number("rebalance", step).map { Int64($0) * ClusterRules.millisecond }
        if let owned = step["owned"].map({ resolve($0) }) as? [Any] {
            request.owned = owned.compactMap { Int32("\($0)") }.map { PartitionID(topic, $0) }
        }
        let answer = cluster.consumerGroupHeartbeat(request)
        var fields: Answer = ["error": answer.error.protocolName, "memberEpoch": Int(answer.memberEpoch)]
        if let assignment = answer.assignment {
            fields["assignment"] = assignment.map { Int($0.partition) }
            fields["count"] = assignment.count
        }
        reply(fields)
    }

    private func performOnTransaction(_ step: Step, _ reply: @escaping (Answer) -> Void) {
        let plain = { (error: ErrorCode) in reply(["error": error.protocolName]) }
        switch step["do"] as? String {
        case "initProducerId":
            let request = InitProducerIDRequest(
                text("transaction", step),
                transactionTimeout: Int64(number("timeout", step) ?? 60_000) * ClusterRules.millisecond,
                current: identity(step))
            let answer = cluster.initProducerID(request)
            reply([
                "error": answer.error.protocolName, "producerId": Int(answer.producer.id),
                "epoch": Int(answer.producer.epoch),
            ])
        case "addPartitionsToTxn":
            let request = AddPartitionsToTxnRequest(transaction(step), [partition(step)])
            plain(cluster.addPartitionsToTxn(request).results[partition(step)] ?? .none)
        case "addOffsetsToTxn":
            plain(
                cluster.addOffsetsToTxn(AddOffsetsToTxnRequest(transaction(step), group: text("group", step) ?? ""))
                    .error)
        case "txnOffsetCommit":
            let offsets = [partition(step): offsetToCommit(step)]
            let request = TxnOffsetCommitRequest(
                transaction(step), group: text("group", step) ?? "", as: member(step), offsets)
            plain(cluster.txnOffsetCommit(request).error)
        case "endTxn":
            let result: TransactionResult = text("result", step) == "commit" ? .commit : .abort
            plain(cluster.endTxn(EndTxnRequest(transaction(step), result)).error)
        default: reply(["error": "the player knows no \(step["do"] ?? "step")"])
        }
    }
}
