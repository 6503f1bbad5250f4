internal import DequeModule
internal import EventContract
internal import EventLoop
internal import Kafka
internal import ProviderCalls

/// The way of one request: from its record to its outcome, without a task unless it has to wait for earlier records.
extension WorkerLane {
    /// True while no request of the lane's partitions is open.
    var isQuiet: Bool { partitions.isQuiet }

    /// Takes a record: starts its request, or adds it to the waiting room.
    /// - Parameter permission: `.runs`, unless workers may have crashed with the record. Only `.runs` enters the waiting room.
    /// - Returns: `nil` for a record that was read before, or that a former owner has done.
    @discardableResult
    func begin(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival,
        permission: CrashWatch.Permission = .runs
    ) -> RequestInProgress? {
        if waitingRoom != nil, permission == .runs { return enter(record, of: partition, at: arrival) }
        let request =
            waitingRoom == nil
            ? partitions.take(record, of: partition, at: arrival)
            : takePastOthers(record, of: partition, at: arrival, isDecoded: permission == .runsAlone)
        guard let request else { return nil }
        request.permission = permission
        start(request)
        return request
    }

    /// Starts a request: decodes its record, and begins its search.
    func start(_ request: RequestInProgress) {
        if !runner.read(request) {
            partitions.expectDeadLetter(of: request)
            end(request)
        } else if request.partition.awaitsDeadLetter(before: request.slot) {
            suspended.behindDeadLetters.append(request)
            gate.leaveFlight()
            Task(executorPreference: loop) { await self.startBehindDeadLetters() }
        } else {
            search(for: request)
        }
    }

    /// Starts a request once the dead letters of earlier records of its partition are written. Meanwhile it holds no
    /// in-flight permit, and its deadline does not run. The request cannot be passed to the task: see
    /// docs/internals/concurrency.md, 4.
    private func startBehindDeadLetters() async {
        guard let request = suspended.behindDeadLetters.popFirst() else { return }
        await request.partition.waitForDeadLetters(before: request)
        guard request.fate != .abandoned else { return partitions.drop(request, wasted: 0) }
        gate.returnToFlight()
        search(for: request)
    }

    /// Begins the search for a request. If no search is needed, the request ends at once.
    private func search(for request: RequestInProgress) {
        let isRunning = runner.begin(request) { search in
            request.search.running = nil
            self.runner.end(request, after: search)
            self.end(request)
        }
        if !isRunning { end(request) }
    }

    /// Ends the work on a request, and publishes its outcome once the order of outcomes permits it.
    private func end(_ request: RequestInProgress) {
        // A request that returns its permit here may wait for others that need a permit to begin. A record that ran in
        // isolation, or is set aside, may have overtaken requests that must publish first. An invalid record may follow
        // a request that waits for a dead letter.
        if !keepsPermit(request) { gate.leaveFlight() }
        guard request.orderPosition?.isFirst == false || request.permission == .runsAlone else {
            return publish(request)
        }
        suspended.behindOrder.append(request)
        Task(executorPreference: loop) { await self.publishNext() }
    }

    /// True if the request holds its in-flight permit until its outcome is published.
    private func keepsPermit(_ request: RequestInProgress) -> Bool {
        waitingRoom == nil || (request.permission == .runs && request.decoded != nil)
    }

    /// Publishes the outcome that has waited longest for its position in the order.
    private func publishNext() async {
        guard let request = suspended.behindOrder.popFirst() else { return }
        await request.orderPosition?.wait()
        // The request's result is about to be committed, so the crash note must be withdrawn.
        if request.permission == .runsAlone { await source.commitOnCrash(nil) }
        publish(request)
    }

    /// Passes an outcome to the delivery, unless the request was abandoned or the lane has failed.
    private func publish(_ request: RequestInProgress) {
        if keepsPermit(request) { gate.leaveFlight() }
        if waitingRoom != nil { WaitingRoom.charge(request, for: request.outcome.calls) }
        guard request.fate != .abandoned, state.failure == nil else {
            return partitions.drop(request, wasted: request.outcome.callsToWaste)
        }

        delivery.outcomes.deliver(request)
    }
}
