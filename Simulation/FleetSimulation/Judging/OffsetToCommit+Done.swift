import Kafka
import SimulatedKafka
import WorkerRuntime

extension OffsetToCommit {
    /// The done-set in the commit's metadata.
    var done: DoneSet { metadataOfWorker.done }

    /// The crash notes in the commit's metadata.
    var crashes: CrashNotes { metadataOfWorker.crashes }

    private var metadataOfWorker: CommitMetadata {
        guard case .known(let known) = CommitMetadata.read(CommittedOffset(offset, metadata: metadata)) else {
            return CommitMetadata()
        }
        return known
    }
}
