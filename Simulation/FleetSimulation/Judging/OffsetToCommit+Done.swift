import Kafka
import SimulatedKafka
import WorkerRuntime

extension OffsetToCommit {
    /// What a worker says to be done beyond the offset.
    var done: DoneSet {
        guard case .known(let known) = CommitMetadata.read(CommittedOffset(offset, metadata: metadata)) else {
            return DoneSet()
        }
        return known.done
    }
}
