import Kafka
import SimulatedKafka
import Testing

@testable import SimulatedKafkaClients

/// How the leader of a classic group resolves members' claims, as in librdkafka's cooperative-sticky assignor.
struct AssignorTests {
    /// A member's claim, or its assignment.
    struct Member {
        let id: String
        var generation: Int32 = -1
        let partitions: [Int32]
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var count: Int32 = 3
        let claims: [Member]
        let shares: [String: [Int32]]
    }

    private static let cases = [
        Case(
            testDescription: "a member that missed a generation keeps what nobody else claims", count: 2,
            claims: [
                Member(id: "a", generation: 10, partitions: [0]), Member(id: "b", generation: 9, partitions: [1]),
                Member(id: "c", partitions: []),
            ],
            shares: ["a": [0], "b": [1]]),
        Case(
            testDescription: "a claim without a generation keeps what nobody else claims", count: 2,
            claims: [Member(id: "a", generation: 10, partitions: [0]), Member(id: "b", partitions: [1])],
            shares: ["a": [0], "b": [1]]),
        Case(
            testDescription: "the newer of two claims counts", count: 2,
            claims: [
                Member(id: "b", generation: 9, partitions: [0]), Member(id: "a", generation: 10, partitions: [0]),
            ],
            shares: ["a": [0], "b": [1]]),
        Case(
            testDescription: "a partition that another member still claims is given to nobody", count: 2,
            claims: [
                Member(id: "a", generation: 10, partitions: [0]), Member(id: "b", generation: 9, partitions: [0]),
            ],
            shares: ["b": [1]]),
        Case(
            testDescription: "two claims of one generation are void",
            claims: [
                Member(id: "a", generation: 1, partitions: [0, 1]), Member(id: "b", generation: 1, partitions: [0, 2]),
                Member(id: "c", partitions: []),
            ],
            shares: ["a": [1], "b": [2]]),
        Case(
            testDescription: "what is above a member's share moves once it is given up",
            claims: [Member(id: "a", generation: 1, partitions: [0, 1, 2]), Member(id: "b", partitions: [])],
            shares: ["a": [0, 1]]),
        Case(
            testDescription: "a partition that is not there any more stays with its owner", count: 1,
            claims: [Member(id: "a", generation: 1, partitions: [0, 1])], shares: ["a": [0, 1]]),
    ]

    @Test(arguments: cases)
    func `Claims decide which member keeps a partition`(example: Case) {
        let members = example.claims.map { member in
            (
                id: member.id,
                subscription: MemberSubscription(
                    topics: ["requests"], owned: member.partitions.map { PartitionID("requests", $0) },
                    generation: member.generation)
            )
        }
        let shares = Assignors.share(["requests": example.count], among: members, by: .cooperativeSticky)
        #expect(shares.mapValues { $0.map(\.partition) } == example.shares)
    }

    /// The answer to a member's SyncGroup comes too late: the group has gone on, and the claimed partitions
    /// are not assigned to other members.
    @Test func `A member whose SyncGroup was answered too late keeps its partitions`() {
        let fixture = ClientFixture()
        let (_, first) = fixture.consumer("first")
        let (member, second) = fixture.consumer("second")
        fixture.pass(.seconds(30))
        let generation = member.generation
        let before = (first.events.count, second.events.count)

        // Two more members join, one after the other, while the second member's SyncGroup is in flight.
        fixture.network.fate = { message in
            let isLate = message.client == "second" && message.kind == .syncGroup
            return SimulatedNetwork.Fate(requestDelay: isLate ? .seconds(4) : 1, answerDelay: 1)
        }
        let (_, third) = fixture.consumer("third")
        fixture.pass(.seconds(3))
        // Its claims name the generation in which its partitions were assigned, not that of its newest attempt to join.
        #expect(member.generation > generation)
        #expect(member.assignmentGeneration == generation)
        let (_, fourth) = fixture.consumer("fourth")
        fixture.pass(.seconds(60))

        for events in [first.events.dropFirst(before.0), second.events.dropFirst(before.1)] {
            #expect(
                !events.contains { $0.hasPrefix("revoked [0") || $0.hasPrefix("revoked [1") || $0.hasPrefix("lost") })
        }
        for events in [third.events, fourth.events] {
            #expect(!events.contains { $0.hasPrefix("assigned [0") || $0.hasPrefix("assigned [1") })
        }
    }
}
