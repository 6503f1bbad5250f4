import Kafka
import Logging

@testable import WorkerRuntime

extension OffsetTracker.Beginning {
    /// The slot of a record to be run.
    var slot: OffsetTracker.Slot? {
        if case .run(let slot) = self { slot } else { nil }
    }
}

extension OwnedPartition {
    /// Makes a partition with a limit on the metadata of its commits, in bytes.
    convenience init(_ id: AssignedPartition, doneSetBytes: Int) {
        self.init(
            id, metadataLimit: MetadataLimit(doneSetBytes, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
    }
}
