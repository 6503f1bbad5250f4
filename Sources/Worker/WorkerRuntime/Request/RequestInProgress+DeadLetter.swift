internal import EventContract

extension RequestInProgress {
    /// Returns the dead letter of the request's record, which is no request or crashes processes.
    /// - Parameters:
    ///   - worker: the name by which people know this worker.
    ///   - time: when the record is put aside.
    func deadLetter(for rejected: RejectedRecord, worker: String?, at time: EventTime) -> DeadLetter {
        DeadLetter(
            record, error: rejected.error, reason: isSetAside ? DeadLetter.crashedWorkers : nil,
            isOutcome: rejected.outcome != nil, at: time, worker: worker,
            tries: isSetAside ? partition.watch.ends : nil)
    }
}
