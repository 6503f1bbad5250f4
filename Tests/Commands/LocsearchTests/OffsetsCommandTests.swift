import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// `locsearch offsets` as a process with a group's broker.
@Suite(.timeLimit(.minutes(2)))
struct OffsetsCommandTests {
    private let group: GroupFixture

    init() throws { group = try GroupFixture() }

    private var ids: [TopicPartition] { group.ids }

    /// Writes 20 records to each partition, and commits offset 5 of partition 0, with 8 and 9 done as well.
    private func fill() async throws {
        for id in ids {
            for _ in 0..<20 { try await group.producer.send([1], to: id.topic, partition: id.partition) }
        }
        try await group.commit()
    }

    private func commits() async throws -> [TopicPartition: CommittedOffset] { try await group.commits(of: ids) }

    private func run(_ arguments: String...) async throws -> RunningProgram {
        try await group.run(["offsets"] + arguments)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "\(GroupFixture.keepsNoMetadata)"))
    func `The offsets are shown without any worker`() async throws {
        try await fill()
        let shown = try await run("show", "--json")
        #expect(shown.code == 0, "\(shown.error)")
        let line = try #require(shown.output.split(separator: "\n").first)
        #expect(
            line.contains(
                #""committed":5,"begin":0,"end":20,"lag":15,"doneBeyond":2,"open":13,"metadataKind":"worker""#),
            "\(line)")

        let table = try await run("show")
        #expect(table.output.contains("done up to 9 but for 1 gap"), "\(table.output)")
        #expect(
            table.output.contains("1          -   20    -            0     -  nothing committed"), "\(table.output)")
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "\(GroupFixture.keepsNoMetadata)"))
    func `A reset moves the offsets and drops the done-set`() async throws {
        try await fill()
        let before = try await commits()
        for arguments in [["--dry-run"], ["--force"]] {
            let program = try await run("reset", "--to", "3", "--partition", "0", arguments[0])
            #expect(program.code == (arguments == ["--dry-run"] ? 0 : 1), "\(program.error)")
            #expect(program.output.contains("0     5   3  4 repeated"), "\(program.output)")
            #expect(try await commits() == before, "\(arguments)")
        }

        let one = try await run("reset", "--to", "3", "--partition", "0", "--force", "--yes")
        #expect(one.code == 0, "\(one.error)")
        // Partition 1 has no offset, so the group's settings still decide where it begins.
        #expect(try await commits() == [ids[0]: CommittedOffset(3)])

        let all = try await run("reset", "--to", "latest", "--force", "--yes")
        #expect(all.code == 0, "\(all.error)")
        #expect(try await commits() == [ids[0]: CommittedOffset(20), ids[1]: CommittedOffset(20)])
        let again = try await run("reset", "--to", "latest", "--force", "--yes")
        #expect(again.output.contains("nothing to change"), "\(again.output)")
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "other brokers tell whether a group has members"))
    func `A group that cannot be checked is not changed`() async throws {
        try await fill()
        let before = try await commits()
        let program = try await run("reset", "--to", "earliest", "--yes")
        #expect(program.code == 1)
        #expect(program.error.contains("nothing was changed: cannot check whether the group"), "\(program.error)")
        #expect(
            program.error.contains("--force") && program.error.split(separator: "\n").count == 1, "\(program.error)")
        #expect(try await commits() == before)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be made to refuse"))
    func `A broker's refusal is reported with its cure`() async throws {
        try await fill()
        // UNKNOWN_MEMBER_ID: a member has joined since the group was checked.
        try #require(group.broker.embedded).fail(.offsetCommit, with: 25, count: 10)
        let program = try await run("reset", "--to", "earliest", "--force", "--yes")
        #expect(program.code == 1)
        #expect(program.error.contains("because it has members: stop its workers"), "\(program.error)")
    }

    /// The embedded broker does not support look-ups by time: every partition would seem to have only older records.
    @Test(.enabled(if: TestBroker.isEmbedded, "other brokers look offsets up by time"))
    func `A broker without look-ups by time does not make a reset skip records`() async throws {
        try await fill()
        let before = try await commits()
        let program = try await run("reset", "--to", "1h", "--force", "--yes")
        #expect(program.code == 1)
        #expect(program.error.contains("they cannot look up offsets by time"), "\(program.error)")
        #expect(try await commits() == before)
    }

    @Test(.enabled(if: !TestBroker.isEmbedded, "the embedded broker looks nothing up by time"))
    func `A time before all records selects the first record`() async throws {
        try await fill()
        let program = try await run("reset", "--to", "1h", "--force", "--yes")
        #expect(program.code == 0, "\(program.error)")
        #expect(try await commits() == [ids[0]: CommittedOffset(0), ids[1]: CommittedOffset(0)])
    }

    @Test(
        arguments: [
            (["reset", "--to", "3"], 64, "give one --partition with it"),
            (["reset", "--to", "earliest", "--partition", "2"], 64, "has the partitions 0 to 1"),
            (["show", "--topic", "missing"], 1, "there is no topic missing"),
        ] as [([String], Int32, String)])
    func `Wrong use is reported with its cure`(arguments: [String], code: Int32, text: String) async throws {
        let program = try await group.run(["offsets"] + arguments)
        #expect(program.code == code, "\(program.error)")
        #expect(program.error.contains(text), "\(program.error)")
    }
}
