internal import EventContract
internal import EventLoop
internal import Kafka
internal import LocationSearch
internal import ProviderCalls

/// Takes records if requests differ in class or tenant: reads ahead as far as memory allows, and begins the most urgent
/// requests.
extension WorkerLane {
    /// Reads records into the waiting room until the lane ends. A separate task begins them.
    func fillWaitingRoom() async throws(KafkaError) {
        let room = waitingRoom
        room?.configuredProviders = runner.configuredProviders
        gate.onRoom = { [weak room] in room?.noteChange() }
        partitions.onRelease = { [weak room] in room?.release(of: $0) }
        room?.calls.onShorterLine { [weak self] in self?.assumeIsolated { $0.waitingRoom?.noteChange() } }
        Task(executorPreference: loop) { await self.serveWaitingRoom() }

        while await waitUntilRequestsMayBegin() {
            // In a cancelled task, every read would return nothing at once.
            if Task.isCancelled { await drain() }
            await partitions.pauses.pauseDue()
            let records = try await source.records(max: Self.largestRead)
            guard await waitUntilRequestsMayBegin() else { return }

            take(records)
        }
    }

    /// Adds a record to the waiting room, which decides when its request begins.
    /// - Returns: `nil` for a record that is not to be run.
    func enter(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival
    ) -> RequestInProgress? {
        guard let room = waitingRoom else { return nil }
        var decoded: DecodedRequest?
        let request = partitions.admit(record, of: partition, at: arrival) { incoming in
            decoded = runner.decode(incoming)
            return runner.flow(of: incoming, decoded)
        }
        guard let request else { return nil }

        request.wait.candidates = decoded.map(runner.candidates) ?? []
        let lines =
            decoded.map { decoded in
                request.wait.candidates.map { room.calls.line(of: decoded.request, at: $0) }
            } ?? []
        let time = decoded.flatMap(runner.timeToLastCall)
        if let provider = lines.first?.provider, let time, time > .zero,
            let wait = room.expectedWait(of: request.flow, for: lines), wait > time
        {
            request.wait.refusal = .queueTooLong(at: provider, retryAfter: wait)
        }

        if let decoded { request.keep(decoded) } else { partitions.pauses.pause(partition, because: .deadLetter) }
        // An expired search does not supersede others of its session.
        let isInTime = time.map { $0 > .zero } ?? true
        let needsCall = !lines.isEmpty && request.wait.refusal == nil && isInTime
        room.enter(request, for: needsCall ? lines : [], atMost: needsCall ? time : nil)
        room.adaptReading(of: partition)
        if isInTime, let decoded { endSuperseded(by: request, decoded) }
        return request
    }

    /// Begins a record without waiting: one that runs in isolation, or is set aside. Its class and tenant still count
    /// for the order of outcomes, for fairness and for charged calls.
    /// - Parameter isDecoded: `false` for a record that must not be decoded. It has the standard class of its topic.
    func takePastOthers(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival, isDecoded: Bool
    ) -> RequestInProgress? {
        var decoded: DecodedRequest?
        let request = partitions.admit(record, of: partition, at: arrival) { incoming in
            if isDecoded { decoded = runner.decode(incoming) }
            return runner.flow(of: incoming, decoded)
        }
        guard let request else { return nil }
        if let decoded { request.keep(decoded) }
        partitions.begin(request)
        return request
    }

    /// Ends the older search of a session if it still waits, so that no call is made for it.
    private func endSuperseded(by request: RequestInProgress, _ decoded: DecodedRequest) {
        guard let older = runner.joinSession(request, as: decoded.request), waitingRoom?.isOrdered == false
        else { return }
        waitingRoom?.endWait(of: older)
    }

    // MARK: - Leaving the waiting room

    /// Begins waiting requests as room becomes available, until the lane ends.
    private func serveWaitingRoom() async {
        guard let room = waitingRoom else { return }
        while await waitUntilRequestsMayBegin() {
            gate.adaptWindow()
            while requestsMayBegin(),
                suspended.behindNotes.count < 2 * CarefulIntake.largestStepFromRoom,
                let request = room.next(behind: suspended.behindNotes.count)
            {
                if request.decoded != nil, request.partition.holdsBack(request.slot) {
                    room.holdBack(request)
                } else if request.partition.commits.isWatched {
                    beginOnceNoted(request)
                } else {
                    beginWaiting(request)
                }
                // Other jobs run between two requests, because each may make an HTTP call.
                await Task.yield()
            }
            publishDemand()
            if !requestsMayBegin() { continue }
            gate.watchWindow()
            await room.waitForChange { !state.isRunning }
        }
    }

    /// Publishes how many requests wait. A lane that is paused or drains publishes none, so that other workers of the fleet
    /// get the quota.
    func publishDemand() {
        guard let room = waitingRoom else { return }
        if state.isRunning, !gate.isPaused { room.publishCounts() } else { room.calls.noteWaiting([:]) }
    }

    /// Begins a request of a watched partition once the brokers have the note about it. Requests of other partitions
    /// begin meanwhile.
    private func beginOnceNoted(_ request: RequestInProgress) {
        suspended.behindNotes.append(request)
        guard suspended.behindNotes.count == 1 else { return }
        Task(executorPreference: loop) { await self.beginNoted() }
    }

    /// Begins the requests that wait for their notes, a few with each commit.
    private func beginNoted() async {
        while !suspended.behindNotes.isEmpty {
            let step = Array(suspended.behindNotes.prefix(CarefulIntake.largestStepFromRoom))
            await carefulIntake.note(step) { state.isRunning }

            suspended.behindNotes.removeFirst(step.count)
            for request in step {
                if state.isRunning { beginWaiting(request) } else { leaveToNextOwner(request) }
            }
            waitingRoom?.noteChange()
        }
    }

    private func leaveToNextOwner(_ request: RequestInProgress) { waitingRoom?.leaveToNextOwner(request) }

    /// Begins a request, unless its partition has been revoked.
    private func beginWaiting(_ request: RequestInProgress) {
        guard partitions.contains(request.partition), !request.partition.isLeaving else {
            return leaveToNextOwner(request)
        }
        partitions.begin(request)
        start(request)
        // The memory of this request may have been the reason why reading of its partition was paused.
        waitingRoom?.adaptReading(of: request.partition)
    }

    /// Abandons all waiting requests. The partitions' next owners read them again. Call it once no request may begin.
    func emptyWaitingRoom() async {
        waitingRoom?.noteChange()
        await waitingRoom?.leaveToNextOwners(partitions.all)
    }
}
