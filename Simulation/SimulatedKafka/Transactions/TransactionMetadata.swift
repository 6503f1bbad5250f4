/// What a coordinator knows of one transactional id.
struct TransactionMetadata {
    enum State: Hashable {
        case empty
        case ongoing
        /// The end is decided and recorded; markers are being written.
        case ending(TransactionResult)
        /// All markers are written.
        case ended(TransactionResult)
    }

    /// What a transaction writes to, and so needs a marker in.
    enum Target: Hashable {
        case partition(PartitionID)
        case offsets(group: String)
    }

    let id: String
    var producer: ProducerIdentity
    /// The producer id before the last that ran out of epochs.
    var previousProducerID: Int64 = -1
    /// The epoch before the present one, where that was given to a producer that named it, or came from an abort by the
    /// coordinator; -1 otherwise.
    var lastEpoch: Int16 = -1
    var timeout: Int64
    var state = State.empty
    /// In the order in which they were added.
    var targets: [Target] = []
    /// The partitions to which a marker of the transaction's end was appended, whether or not all replicas have it.
    var marked: Set<PartitionID> = []
    var start: Int64 = 0
    var lastUpdate: Int64
    /// When its coordinator has read what the one before has written, as the seat says. Kept here because each request asks when
    /// something will happen to an open transaction.
    var loadedAt: Int64 = 0
    /// When markers are written, or are tried again; `nil`: none are to be written.
    var markersDue: Int64?

    init(id: String, producerID: Int64, timeout: Int64, now: Int64) {
        self.id = id
        producer = ProducerIdentity(id: producerID, epoch: -1)
        self.timeout = timeout
        lastUpdate = now
    }

    /// False when nothing happens to it of itself: no transaction is open.
    var mayFire: Bool {
        switch state {
        case .empty, .ended: false
        case .ongoing, .ending: true
        }
    }

    /// No client may have the highest epoch, which is kept for fencing.
    var isEpochExhausted: Bool { producer.epoch >= .max - 1 }
}

/// All transactional ids, of which few have a transaction open.
struct TransactionTable {
    private var all: [String: TransactionMetadata] = [:]
    /// Those that something may happen to of itself. Apart, because each request asks when that will be.
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
