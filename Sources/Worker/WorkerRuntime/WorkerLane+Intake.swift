internal import EventContract
internal import EventLoop
internal import Kafka
internal import QuotaSharing

/// Takes records: begins their requests, or keeps records for `CarefulIntake`.
extension WorkerLane {
    func takeRecords() async throws(KafkaError) {
        while let room = await waitForRoom() {
            // In a cancelled task, every read would return nothing at once.
            if Task.isCancelled { await drain() }
            await partitions.pauses.pauseDue()
            var records = try await source.records(max: min(room, Self.largestRead))[...]
            // The records may have taken long to arrive, or may be the first of an assignment, and others may have
            // begun meanwhile.
            while !records.isEmpty {
                guard let room = await waitForRoom() else { return }
                take(records.prefix(room))
                records = records.dropFirst(room)
            }
        }
    }

    /// Waits until requests may begin.
    /// - Returns: the number of requests that may begin; `nil` if the lane takes no more.
    private func waitForRoom() async -> Int? {
        while await waitUntilRequestsMayBegin() {
            gate.adaptWindow()
            guard let room = await gate.waitForRoom(while: { !delivery.outcomes.acceptsRequests }) else { return nil }
            if requestsMayBegin() { return room }
        }
        return nil
    }

    /// Waits while no request may begin.
    /// - Parameter isAlone: `true` for a record that this lane runs in isolation.
    /// - Returns: `false` if the lane takes no more requests.
    func waitUntilRequestsMayBegin(isAlone: Bool = false) async -> Bool {
        while state.isRunning {
            if !rebalancing.isShareKnown {
                await rebalancing.learnShare()
                if !rebalancing.isShareKnown, state.isRunning { await loop.pause(.seconds(1)) }
            } else if carefulIntake.mustWait(isAlone: isAlone) {
                await loop.pause(.milliseconds(5))
            } else if !rebalancing.fleet.isReady || gate.isPaused {
                await loop.pause(.milliseconds(50))
            } else if !delivery.outcomes.acceptsRequests {
                await gate.wait(while: { !delivery.outcomes.acceptsRequests })
            } else {
                return true
            }
        }
        return false
    }

    /// False while `waitUntilRequestsMayBegin` would wait.
    func requestsMayBegin(isAlone: Bool = false) -> Bool {
        isOpen && !carefulIntake.mustWait(isAlone: isAlone)
    }

    /// False while no request may begin, whatever its partition.
    private var isOpen: Bool {
        state.isRunning && !gate.isPaused && rebalancing.isShareKnown && rebalancing.fleet.isReady
            && delivery.outcomes.acceptsRequests
    }

    /// The conditions on which the lane takes records, for the simulation.
    package var intakeStatus: IntakeStatus {
        IntakeStatus(
            isOpen: isOpen, hasRoom: waitingRoom != nil || gate.room > 0,
            partitionsInCare: carefulIntake.partitionsInCare, runsAlone: carefulIntake.runsAlone)
    }

    /// Begins records. Keeps those of partitions that were just assigned, or whose former owners crashed.
    func take(_ records: some Sequence<ConsumerRecord>) {
        let arrival = RecordArrival(instant: loop.now, time: loop.wallNow)
        for record in records {
            guard let partition = partitions.owner(of: record) else { continue }
            if !partition.keepsRecords {
                begin(record, of: partition, at: arrival)
            } else if partitions.pauses.keep(record, of: partition) {
                carefulIntake.willTakeHeld()
                Task(executorPreference: loop) { [id = partition.id] in await self.takeHeld(of: id) }
            }
        }
    }

    /// Begins the kept records of a partition.
    private func takeHeld(of id: AssignedPartition) async {
        await carefulIntake.takeHeld(
            of: id, mayBegin: { await mayBegin($0) }, isOpen: { requestsMayBegin(isAlone: true) }
        ) { record, permission in
            guard let partition = partitions.owner(of: record) else { return nil }
            let arrival = RecordArrival(instant: loop.now, time: loop.wallNow)
            return begin(record, of: partition, at: arrival, permission: permission)
        }
    }

    /// Waits until a kept record may begin.
    /// - Returns: `false` if the lane takes no more requests.
    private func mayBegin(_ permission: CrashWatch.Permission) async -> Bool {
        guard permission != .runsAlone else { return await waitUntilRequestsMayBegin(isAlone: true) }
        return waitingRoom == nil ? await waitForRoom() != nil : await waitUntilRequestsMayBegin()
    }
}
