import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// The output of `locsearch offsets`, and the parsing of its target.
struct OffsetsReportTests {
    private static func id(_ partition: Int32) -> TopicPartition { TopicPartition("t", partition) }

    /// Offsets 100 to 199 are in the log; 120 is committed, 130..<140 and 150..<160 are done.
    private static let ahead: PartitionOffsets = {
        var metadata = CommitMetadata()
        for run in [130..<140, 150..<160] as [Range<Int64>] { metadata.done.append(run) }
        let text = metadata.text(for: 120, atMost: 4000).text
        return PartitionOffsets(id(0), bounds: 100..<200, commit: CommittedOffset(120, metadata: text))
    }()

    private static func partition(
        _ number: Int32 = 0, _ bounds: Range<Int64> = 100..<200, at offset: Int64?, _ metadata: String = ""
    ) -> PartitionOffsets {
        PartitionOffsets(id(number), bounds: bounds, commit: offset.map { CommittedOffset($0, metadata: metadata) })
    }

    // MARK: - Position of a group

    @Test(
        arguments: [
            (ahead, 80, 20, 60), (partition(at: 100), 100, 0, 100), (partition(at: 200), 0, 0, 0),
            // Deleted records count in Kafka's lag, but can no longer be done.
            (partition(at: 40), 160, 0, 100),
            // The topic was recreated.
            (partition(at: 900), 0, 0, 0), (partition(at: nil), nil, 0, nil),
            (partition(at: 100, "locsearch1;at=120;runs=KKKK"), 100, 0, 100), (partition(0, 0..<0, at: 0), 0, 0, 0),
        ] as [(PartitionOffsets, Int64?, Int64, Int64?)])
    func `The open records are those in the log that are not done`(
        partition: PartitionOffsets, lag: Int64?, done: Int64, open: Int64?
    ) {
        #expect(partition.lag == lag)
        #expect(partition.doneBeyond == done)
        #expect(partition.open == open)
    }

    @Test(
        arguments: [
            (ahead, "worker", ["done up to 159 but for 2 gaps"]), (partition(at: 100), "none", []),
            (partition(at: 100, "locsearch1;at=100;tries=1"), "worker", []),
            (
                partition(at: 100, "locsearch1;at=100;tries=3;begun=102;suspect=101:2"), "worker",
                [
                    "2 workers crashed while owning it", "started up to 101",
                    "ran 101 separately; crashes: 2",
                ]
            ),
            (
                partition(at: 100, "locsearch1;at=100;tries=2;running=120+37+8843"), "worker",
                ["1 worker crashed while owning it", "possibly in flight: 120, 157, 9000"]
            ),
            (partition(at: 100, "locsearch1;at=100;later=3"), "worker", ["field of a later version: later=3"]),
            (
                partition(at: 100, "NoCommit\u{1B}[2J"), "foreign",
                ["foreign metadata, which workers ignore: NoCommit\u{1B}[2J"]
            ),
            (
                partition(at: 100, "locsearch1;at=100;runs=?"), "foreign",
                ["foreign metadata, which workers ignore: locsearch1;at=100;runs=?"]
            ),
            (
                partition(at: 100, "locsearch1;at=7;runs=KKKK"), "copied",
                ["copied from another offset by a tool, and ignored by workers: locsearch1;at=7;runs=KKKK"]
            ),
            (partition(at: 40), "none", ["60 were deleted before they were finished"]),
            (partition(at: 900), "none", ["the offset is beyond the end of the log: was the topic recreated?"]),
            (partition(at: nil), "none", ["nothing committed"]),
        ] as [(PartitionOffsets, String, [String])])
    func `The metadata of a commit is described in words`(partition: PartitionOffsets, kind: String, words: [String]) {
        #expect(partition.metadataKind == kind)
        #expect(partition.words == words)
    }

    @Test func `Deleted records that were done are not counted`() {
        var metadata = CommitMetadata()
        metadata.done.append(41..<100)
        let partition = Self.partition(at: 40, metadata.text(for: 40, atMost: 4096).text)
        #expect(partition.words.first == "1 were deleted before they were finished")
    }

    private static let member = GroupDescription.Member(clientID: "w1", host: "/10.0.0.3", partitions: [id(0)])

    @Test func `The table shows each partition with its member`() {
        let report = OffsetsReport(
            group: "g", topics: [RequestTopic("t")],
            presence: .described(GroupDescription(state: "Stable", members: [Self.member])),
            partitions: [Self.ahead, Self.partition(1, at: 150, "x\u{1B}[2J")])
        #expect(
            report.text == [
                "group g: Stable, 1 member",
                "topic t: 2 partitions, 110 open, 20 done beyond the committed offsets", "",
                "partition  committed  end  lag  done beyond  open  member          contents of the commit",
                "        0        120  200   80           20    60  w1 at 10.0.0.3  done up to 159 but for 2 gaps",
                "        1        150  200   50            0    50                  foreign metadata, which workers ignore: x [2J",
            ])
        #expect(
            report.json.first == """
                {"group":"g","topic":"t","partition":0,"committed":120,"begin":100,"end":200,"lag":80,"doneBeyond":20,\
                "open":60,"metadataKind":"worker","metadata":"locsearch1;at=120;runs=KKKK","notes":["done up to 159 but for 2 gaps"],\
                "groupState":"Stable","groupMembers":1,"member":"w1 at 10.0.0.3"}
                """)
    }

    // MARK: - Conditions for a reset

    @Test func `Only a group without members is reset`() {
        let empty = GroupPresence(GroupDescription(state: "Empty"), hasCommits: true)
        let new = GroupPresence(.unknown, hasCommits: false)
        for presence in [empty, new] { #expect(presence.refusal(of: "g", isForced: false) == nil) }

        let members = (1...5).map { GroupDescription.Member(clientID: "w\($0)", host: "/10.0.0.\($0)") }
        let stable = GroupPresence(GroupDescription(state: "Stable", members: members), hasCommits: true)
        let text =
            "g is Stable and has 5 members (w1 at 10.0.0.1, w2 at 10.0.0.2, w3 at 10.0.0.3 and 2 more): stop its workers"
        #expect(stable.refusal(of: "g", isForced: true)?.contains(text) == true)
        let joining = GroupPresence(GroupDescription(state: "PreparingRebalance"), hasCommits: true)
        #expect(joining.refusal(of: "g", isForced: true) != nil)
    }

    /// Kafka 4 reports a KIP-848 group as unknown.
    @Test func `A group that cannot be checked is reset only with force`() {
        for presence in [GroupPresence(.unknown, hasCommits: true), .untold("no answer")] {
            #expect(presence.refusal(of: "g", isForced: false)?.contains("--force") == true)
            #expect(presence.refusal(of: "g", isForced: true) == nil)
        }
    }

    // MARK: - Effects of a reset

    @Test(
        arguments: [
            // Back: repeats the requests done before the old offset, and those done beyond it.
            (ahead, 110, 110, 30, 0, "30 repeated"), (ahead, 100, 100, 40, 0, "40 repeated"),
            // Forward: skips only open requests, and forgets the requests done beyond the target.
            (ahead, 145, 145, 10, 15, "10 repeated; 15 skipped"), (ahead, 200, 200, 0, 60, "60 skipped"),
            (ahead, 155, 155, 5, 20, "5 repeated; 20 skipped"), (ahead, 120, 120, 20, 0, "20 repeated"),
            (ahead, 90, 100, 40, 0, "40 repeated; 90 is deleted: the log begins at 100"),
            (ahead, 205, 200, 0, 60, "60 skipped; 205 is not written yet: the log ends at 200"),
            (partition(at: nil), 150, 150, 0, 0, "the group starts there"),
            (partition(at: 150), 150, 150, 0, 0, "unchanged"),
            (partition(at: 150, "x"), 150, 150, 0, 0, "metadata cleared"),
            (partition(at: 40), 100, 100, 0, 0, "nothing repeated"),
            (partition(at: 900), 150, 150, 50, 0, "50 repeated"),
        ] as [(PartitionOffsets, Int64, Int64, Int64, Int64, String)])
    func `A change names the repeated and the skipped requests`(
        partition: PartitionOffsets, target: Int64, to: Int64, redone: Int64, skipped: Int64, words: String
    ) throws {
        let plan = ResetPlan([partition], targets: [partition.id: target])
        let change = try #require(plan.changes.first)
        #expect(change.to == to)
        #expect(change.redone == redone)
        #expect(change.skipped == skipped)
        #expect(plan.text.last?.hasSuffix("  \(words)") == true, "\(plan.text)")
        #expect(plan.commits == (words == "unchanged" ? [:] : [partition.id: CommittedOffset(to)]))
        #expect(plan.summary == "\(redone) requests are repeated, \(skipped) are skipped")
    }

    @Test(
        arguments: [
            ("earliest", .earliest), ("latest", .latest), ("2h", .ago(.seconds(7200))),
            ("1200", .offset(1200)), ("2026-11-21T09:30:00+09:00", .time(1_795_221_000_000)),
        ] as [(String, OffsetTarget)])
    func `A target is read from its text`(text: String, target: OffsetTarget) throws {
        #expect(try OffsetTarget.read(text) == target)
    }

    @Test(arguments: ["", "-1", "yesterday", "2026-11-21T09:30:00", "2h30", "99999999999999999999"])
    func `A wrong target is rejected`(text: String) {
        #expect(throws: (any Error).self) { try OffsetTarget.read(text) }
    }
}
