internal import EventContract

extension RequestInProgress {
    /// Returns the dead letter of the request's record, which is invalid or crashes processes.
    /// - Parameters:
    ///   - worker: the name by which operators know this worker.
    ///   - time: the time at which the record is set aside.
    func deadLetter(for rejected: RejectedRecord, worker: String?, at time: EventTime) -> DeadLetter {
        DeadLetter(
            record, error: rejected.error, reason: isSetAside ? DeadLetter.crashedWorkers : nil,
            isOutcome: rejected.outcome != nil, at: time, worker: worker,
            tries: isSetAside ? partition.watch.ends : nil)
    }
}
