import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

extension DoneSet {
    init(_ runs: [Range<Int64>]) {
        self.init()
        for run in runs { append(run) }
    }
}

struct DoneSetTests {
    @Test func `Adjacent runs become one`() {
        var set = DoneSet([3..<5, 5..<6, 9..<10])
        #expect(set.runs == [3..<6, 9..<10])
        set.append(4..<20)
        set.append(12..<12)
        #expect(set.runs == [3..<6, 9..<10], "a range that is not behind the others changes nothing")
        #expect([2, 3, 5, 6, 9, 10].filter { set.contains($0) } == [3, 5, 9])

        set.removeAll(before: 5)
        #expect(set.runs == [5..<6, 9..<10])
        set.removeAll(before: 7)
        #expect(set.runs == [9..<10])
        set.removeAll(before: 99)
        #expect(set.isEmpty)
    }

    // MARK: - As a text

    /// The sizes that docs/internals/guarantees.md names.
    static let sizes: [(name: String, set: DoneSet, base: Int64, bytes: Int)] = [
        ("one slow request, 60,000 done behind it", DoneSet([1_001..<61_001]), 1_000, 10),
        ("1 of 100 open at random among 10,000", scattered(10_000, openOneIn: 100), 0, 300),
        ("every other one of 18,000 open", DoneSet((0..<9_000).map { 2 * $0 + 1..<2 * $0 + 2 }), 0, 3005),
    ]

    private static func scattered(_ count: Int64, openOneIn: Int) -> DoneSet {
        var random = SplitMix64(state: 7)
        var set = DoneSet()
        for offset in 1..<count where Int.random(in: 0..<openOneIn, using: &random) > 0 {
            set.append(offset..<offset + 1)
        }
        return set
    }

    @Test(arguments: sizes)
    func `The text is short`(size: (name: String, set: DoneSet, base: Int64, bytes: Int)) {
        let text = size.set.text(from: size.base, atMost: 4096)
        #expect(text.cut == nil)
        #expect(text.text.utf8.count <= size.bytes, "\(size.name): \(text.text.utf8.count)")
        #expect(DoneSet(text: text.text, from: size.base) == size.set)
    }

    @Test func `A text is read as it was written`() {
        let set = DoneSet([102..<103, 105..<140])
        #expect(set.text(from: 100, atMost: 99).text == "runs=CBCjB")
        #expect(DoneSet(text: "runs=CBCjB", from: 100) == set)

        let dense = DoneSet([1..<2, 3..<4, 5..<6, 7..<8])
        #expect(dense.text(from: 0, atMost: 99).text == "bits=qC")
        #expect(DoneSet(text: "bits=qC", from: 0) == dense)
    }

    /// For any set, the text lists only done offsets, and all of them before the cut.
    @Test(arguments: 0..<200)
    func `The text lists only done offsets and all before the cut`(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let base = Int64.random(in: 0...1_000_000, using: &random)
        let density = Int64.random(in: 1...40, using: &random)
        var (set, position) = (DoneSet(), base)
        for _ in 0..<Int.random(in: 0...400, using: &random) {
            position += Int64.random(in: 1...density, using: &random)
            let end = position + Int64.random(in: 1...density, using: &random)
            set.append(position..<end)
            position = end
        }

        let limit = Int.random(in: 0...500, using: &random)
        let text = set.text(from: base, atMost: limit)
        #expect(text.text.utf8.count <= limit)
        let read = text.text.isEmpty ? DoneSet() : try #require(DoneSet(text: text.text, from: base))
        var expected = DoneSet()
        for run in set.runs { expected.append(run.clamped(to: base..<(text.cut ?? .max))) }
        #expect(read == expected)
    }

    static let damaged = [
        "", "runs", "runs=CB=", "runs=C", "runs=CBC", "runs=CBA", "runs=CBAB", "bits=q C", "bits=ä", "sets=qC",
        "runs=_________B",
        "runs=CBCg", "runs=______________",
    ]

    @Test(arguments: damaged)
    func `A damaged text is rejected`(text: String) {
        #expect(DoneSet(text: text, from: 100) == nil)
    }

    @Test func `A text beyond the largest offset is rejected`() {
        #expect(DoneSet(text: "runs=CBCjB", from: .max - 3) == nil)
        #expect(DoneSet(text: "bits=qC", from: .max - 3) == nil)
    }

    // MARK: - Beside an offset

    @Test func `Metadata is read as it was written`() {
        var metadata = CommitMetadata()
        metadata.done = DoneSet([102..<103])
        let text = metadata.text(for: 100, atMost: 4096)
        #expect(text.text == "locsearch1;at=100;bits=E")
        #expect(CommitMetadata.read(CommittedOffset(100, metadata: text.text)) == .known(metadata))
    }

    static let foreign = [
        "someone else's", "locsearch2;at=100;runs=CB", "locsearch1;at=100;runs=C", "locsearch1 runs=CB", ";;", "b:AAAA",
        "locsearch1", "locsearch1;runs=CB", "locsearch1;at=;runs=CB", "locsearch1;at=100;at=100;runs=CB",
        "locsearch1;at=100;at=7", "locsearch1;at=99999999999999999999", "at=100", "at=100;locsearch2",
    ]

    @Test(arguments: foreign)
    func `Foreign metadata is not read`(text: String) {
        #expect(CommitMetadata.read(CommittedOffset(100, metadata: text)) == .foreign)
    }

    /// MirrorMaker copies metadata to an offset of another cluster, where it names other records.
    @Test(arguments: [
        "locsearch1;at=99;runs=CB", "locsearch1;at=1000", "locsearch1;at=101;tries=2;alone=103:1",
        "locsearch1;at=-100;runs=CB",
    ])
    func `The text of another offset is ignored`(text: String) {
        #expect(CommitMetadata.read(CommittedOffset(100, metadata: text)) == .copied)
    }

    @Test func `Fields of a later version are skipped`() {
        var metadata = CommitMetadata()
        metadata.done = DoneSet([102..<103])
        #expect(
            CommitMetadata.read(CommittedOffset(100, metadata: "locsearch1;at=100;later=7;runs=CB;more"))
                == .known(metadata))
    }
}
