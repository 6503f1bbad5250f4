/// A partition's state of one idempotent producer.
struct ProducerState {
    struct Batch {
        var firstSequence: Int32
        var lastSequence: Int32
        var firstOffset: Int64
    }

    var epoch: Int16 = -1
    /// The last batches of this epoch, oldest first.
    var batches: [Batch] = []
    /// The first offset of the open transaction; `nil`: none is open.
    var transactionStart: Int64?
    /// The epoch of the last coordinator that wrote a marker. Markers of an older one are rejected.
    var coordinatorEpoch: Int32 = -1
    var lastTimestamp: Int64 = 0

    /// Returns the earlier batch with exactly these sequence numbers, if there is one.
    func duplicate(of batch: ProduceRequest.Batch) -> Batch? {
        guard batch.producer.epoch == epoch, let last = batch.lastSequence else { return nil }
        return batches.first { $0.firstSequence == batch.baseSequence && $0.lastSequence == last }
    }

    /// Checks a batch that is no duplicate.
    func check(_ batch: ProduceRequest.Batch) -> ErrorCode {
        if batch.producer.epoch < epoch { return .invalidProducerEpoch }
        if transactionStart != nil, !batch.isTransactional { return .invalidTxnState }

        // A partition without state of the producer (its records may be deleted) accepts any sequence number.
        guard epoch != -1 else { return .none }
        guard batch.producer.epoch == epoch else {
            return batch.baseSequence == 0 ? .none : .outOfOrderSequenceNumber
        }

        let lastSequence = batches.last?.lastSequence ?? -1
        let follows =
            lastSequence == .max ? batch.baseSequence == 0 : batch.baseSequence == lastSequence + 1
        return follows ? .none : .outOfOrderSequenceNumber
    }

    /// Records a batch that was written.
    mutating func append(_ batch: ProduceRequest.Batch, at offset: Int64, remembering limit: Int, now: Int64) {
        if batch.producer.epoch != epoch {
            epoch = batch.producer.epoch
            batches = []
        }
        batches.append(
            Batch(
                firstSequence: batch.baseSequence, lastSequence: batch.lastSequence ?? batch.baseSequence,
                firstOffset: offset))
        if batches.count > limit { batches.removeFirst() }
        if batch.isTransactional, transactionStart == nil { transactionStart = offset }
        lastTimestamp = now
    }
}

extension ProduceRequest.Batch {
    /// The sequence number of the last record; 0 follows `Int32.max`. `nil` for an empty batch.
    var lastSequence: Int32? {
        guard !records.isEmpty else { return nil }
        let last = Int64(baseSequence) + Int64(records.count) - 1
        return Int32(truncatingIfNeeded: last > Int64(Int32.max) ? last - Int64(Int32.max) - 1 : last)
    }
}
