import Foundation
import KafkaTestSupport
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// Damaged and forged metadata of committed offsets. With any text the partition's owner begins and goes on, and
/// the text is valid only for its own offset.
struct CommitMetadataFuzzTests {
    /// Set `LOCSEARCH_FUZZ_INPUTS` for more inputs.
    private static let inputs =
        ProcessInfo.processInfo.environment["LOCSEARCH_FUZZ_INPUTS"].flatMap { Int($0) } ?? 15_000

    @Test func `Any metadata is read or ignored and crashes no owner`() {
        var texts = ForgedTexts(seed: 1)
        var (read, copied, refused) = (0, 0, 0)
        for number in 0..<Self.inputs {
            let committed = texts.next()
            var fault: String?
            switch CommitMetadata.read(committed) {
            case .known(let metadata):
                read += 1
                fault =
                    Self.faultOfWriting(metadata, at: committed.offset)
                    ?? Self.faultOfCopying(committed)
                    ?? Self.faultOfOwner(metadata, at: committed)
            case .copied: copied += 1
            case .nothing, .foreign: refused += 1
            }
            #expect(fault == nil, "input \(number): \(committed)")
        }
        // All cases must occur: otherwise the damage is too small or too great to test anything.
        #expect(
            min(read, refused, copied * 10) > Self.inputs / 10, "\(read) read, \(copied) copied, \(refused) refused")
    }

    private static func faultOfWriting(_ metadata: CommitMetadata, at offset: Int64) -> String? {
        let text = metadata.text(for: offset, atMost: .max).text
        if text.isEmpty { return metadata == CommitMetadata() ? nil : "it cannot be written" }
        return CommitMetadata.read(CommittedOffset(offset, metadata: text)) == .known(metadata)
            ? nil : "written, it is another"
    }

    private static func faultOfCopying(_ committed: CommittedOffset) -> String? {
        let reading = CommitMetadata.read(CommittedOffset(committed.offset + 1, metadata: committed.metadata))
        return reading == .copied ? nil : "it counts beside another offset"
    }

    /// Lets an owner take over the partition, read, run and finish some records, and end.
    private static func faultOfOwner(_ metadata: CommitMetadata, at committed: CommittedOffset) -> String? {
        let partition = OwnedPartition(AssignedPartition(TopicPartition("requests", 0), epoch: 1), doneSetBytes: 4096)
        partition.commits.begin(at: committed, with: metadata)
        let offsets = Array(committed.offset..<committed.offset + 20)
        partition.commits.willBegin(offsets[0]...offsets[19], count: 20, at: .now)
        partition.commits.willRead(offsets, beside: [], at: .now)
        partition.commits.willBegin(offsets, beside: [], at: .now)

        for offset in offsets {
            let permission = partition.commits.permission(for: offset)
            guard case .run(let slot) = partition.commits.tracker.begin(offset) else {
                guard metadata.done.contains(offset) else { return "\(offset) is passed over" }
                continue
            }
            if metadata.done.contains(offset) { return "\(offset) runs again" }
            if permission == .runsAlone {
                partition.commits.willRunAlone(offset, at: .now)
                guard partition.commits.watch.nextIsolation >= .zero,
                    partition.commits.commitOnCrash(with: offset) != nil
                else {
                    return "no isolation"
                }
                partition.commits.watch.hasRunAlone(offset)
            }
            if offset % 3 == 0 { partition.commits.tracker.markDelivered(slot) }
        }
        partition.commits.reviewCrashes(at: .now + .seconds(100))
        guard let progress = partition.commits.takeProgress() else { return nil }
        if progress.metadata.utf8.count > 4096 { return "its text is too long" }
        guard case .known = CommitMetadata.read(progress) else { return "its text cannot be read" }
        partition.commits.noteConfirmed(progress)
        partition.commits.noteOrderlyEnd()
        return partition.commits.takeProgress().map(CommitMetadata.read) == .foreign
            ? "its last text cannot be read" : nil
    }
}
