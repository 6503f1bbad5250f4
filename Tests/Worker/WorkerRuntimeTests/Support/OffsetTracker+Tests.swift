import Kafka
import Logging

@testable import WorkerRuntime

extension OffsetTracker.Beginning {
    /// The slot of a record that is to be run.
    var slot: OffsetTracker.Slot? {
        if case .run(let slot) = self { slot } else { nil }
    }
}

extension OwnedPartition {
    /// A partition whose commits keep so many bytes about what is done.
    convenience init(_ id: AssignedPartition, doneSetBytes: Int) {
        self.init(
            id, metadataLimit: MetadataLimit(doneSetBytes, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
    }
}
