import Kafka
import SimulatedKafka
import WorkerRuntime

extension OffsetToCommit {
    /// What a worker says to be done beyond the offset.
    var done: DoneSet { metadataOfWorker.done }

    /// What a worker says of processes that ended.
    var crashes: CrashNotes { metadataOfWorker.crashes }

    private var metadataOfWorker: CommitMetadata {
        guard case .known(let known) = CommitMetadata.read(CommittedOffset(offset, metadata: metadata)) else {
            return CommitMetadata()
        }
        return known
    }
}
