/// A coordinator's state of one transactional id.
struct TransactionMetadata {
    enum State: Hashable {
        case empty
        case ongoing
        /// The end is decided and recorded; markers are being written.
        case ending(TransactionResult)
        /// All markers are written.
        case ended(TransactionResult)
    }

    /// A target of a transaction's writes, which needs a marker.
    enum Target: Hashable {
        case partition(PartitionID)
        case offsets(group: String)
    }

    let id: String
    var producer: ProducerIdentity
    /// The previous producer id, whose epochs are used up.
    var previousProducerID: Int64 = -1
    /// The previous epoch, if its producer named it in a request for a new one, or if the coordinator
    /// aborted its transaction; -1 otherwise.
    var lastEpoch: Int16 = -1
    var timeout: Int64
    var state = State.empty
    /// In the order in which they were added.
    var targets: [Target] = []
    /// The partitions to which a marker of the transaction's end was appended, whether or not all replicas have it.
    var marked: Set<PartitionID> = []
    var start: Int64 = 0
    var lastUpdate: Int64
    /// The time at which its coordinator has loaded the state, as in the seat. Kept here because each request
    /// computes the next event of open transactions.
    var loadedAt: Int64 = 0
    /// The time at which markers are written or retried; `nil`: there are none to write.
    var markersDue: Int64?

    init(id: String, producerID: Int64, timeout: Int64, now: Int64) {
        self.id = id
        producer = ProducerIdentity(id: producerID, epoch: -1)
        self.timeout = timeout
        lastUpdate = now
    }

    /// False if it has no event without a request: no transaction is open.
    var mayFire: Bool {
        switch state {
        case .empty, .ended: false
        case .ongoing, .ending: true
        }
    }

    /// True at the highest epoch for clients. The one above is reserved for fencing.
    var isEpochExhausted: Bool { producer.epoch >= .max - 1 }
}

/// All transactional ids, of which few have an open transaction.
struct TransactionTable {
    private var all: [String: TransactionMetadata] = [:]
    /// The transactions that may have an event without a request. Kept separately, because each request computes the next event.
    private(set) var open: [TransactionMetadata] = []

    var ids: some Collection<String> { all.keys }

    subscript(id: String) -> TransactionMetadata? {
        get { all[id] }
        set {
            all[id] = newValue
            let index = open.firstIndex { $0.id == id }
            if let newValue, newValue.mayFire {
                if let index { open[index] = newValue } else { open.append(newValue) }
            } else if let index {
                open.remove(at: index)
            }
        }
    }
}
