internal import Kafka
internal import SimulatedKafka

/// Start positions and prefetching.
extension SimulatedConsumer {
    // MARK: - Positions

    /// Requests the start positions from the group. Waits for offsets that an open transaction is about to commit.
    func findPositions(of added: [Source]) {
        let waiting = added.filter { sources[$0.id] === $0 && $0.position == nil && !$0.isResetting }
        guard !waiting.isEmpty, !isClosed else { return }
        let request = OffsetFetchRequest(
            settings.group, waiting.map(\.id), requireStable: true,
            member: settings.groupProtocol == .consumer ? member : nil)
        link.askCoordinator(
            groupKey, .offsetFetch, error: { (answer: OffsetFetchResponse) in answer.error },
            { $2($0.offsetFetch(request, at: $1)) }
        ) { [weak self] result in
            guard let self else { return }
            if case .success(let answer) = result { take(answer, for: waiting) }
            let left = waiting.filter { $0.position == nil && !$0.isResetting }
            guard !left.isEmpty else { return }
            link.after(ClientLink.backoff) { [weak self] in self?.findPositions(of: left) }
        }
    }

    private func take(_ answer: OffsetFetchResponse, for waiting: [Source]) {
        var begun: [AssignedPartition: CommittedOffset] = [:]
        for source in waiting {
            guard let result = answer.results[source.id], result.error == .none else { continue }
            if result.offset >= 0 {
                begun[source.partition] = CommittedOffset(result.offset, metadata: result.metadata)
                source.committed = source.committed ?? result.offset
                source.isResetting = true
            } else {
                reset(source, from: nil)
            }
        }
        guard !begun.isEmpty, let handler else { return fetchAll() }

        handler.willRead(from: begun) { [weak self] in
            for source in waiting where begun[source.partition] != nil {
                (source.position, source.isResetting) = (begun[source.partition]?.offset, false)
                source.nextOffset = source.position ?? 0
            }
            self?.fetchAll()
        }
    }

    /// Resets the position: to the oldest record if nothing was committed, otherwise according to the worker's `auto.offset.reset`.
    /// - Parameter from: The offset that the broker does not have; `nil` if nothing was committed.
    private func reset(_ source: Source, from: Int64?) {
        (source.position, source.isResetting) = (nil, true)
        let again: () -> Void = { [weak self] in
            self?.link.after(ClientLink.backoff) { [weak self] in
                if let self, sources[source.id] === source { reset(source, from: from) }
            }
        }
        guard let leader = link.leaders[source.id] else {
            link.refresh(topics) { _ in again() }
            return
        }

        let isAtEnd = from != nil && ConsumerConfiguration.offsetReset == "latest"
        let request = ListOffsetsRequest([source.id: isAtEnd ? .latest : .earliest])
        link.ask(.listOffsets, leader.broker, { $1($0.listOffsets(request, at: leader.broker)) }) {
            [weak self] (result: Result<ListOffsetsResponse, NetworkFailure>) in
            guard let self, sources[source.id] === source else { return }
            guard case .success(let answer) = result, let found = answer.results[source.id], found.error == .none
            else {
                link.forgetLeader(of: source.id)
                return again()
            }
            (source.position, source.isResetting) = (found.offset, false)
            if let begin = source.origin?.begin { source.origin?.begin = min(begin, found.offset) }
            if let from {
                if found.offset > from {
                    source.lastReset = nil
                    handler?.missed(from..<found.offset, of: source.partition.id)
                }
            } else {
                source.start = found.offset
            }
            fetchAll()
        }
    }

    /// Decides how to continue after the position went back: see `KafkaConsumer.decide`.
    func decide(about source: Source) {
        let request = OffsetFetchRequest(
            settings.group, [source.id], requireStable: true,
            member: settings.groupProtocol == .consumer ? member : nil)
        link.askCoordinator(
            groupKey, .offsetFetch, error: { (answer: OffsetFetchResponse) in answer.error },
            { $2($0.offsetFetch(request, at: $1)) }
        ) { [weak self] result in
            guard let self, sources[source.id] === source, source.isReadable else { return }
            guard case .success(let answer) = result, let found = answer.results[source.id], found.error == .none
            else {
                return link.after(ClientLink.backoff) { [weak self] in self?.decide(about: source) }
            }
            guard found.offset < 0 || source.missingSince != nil else {
                source.isPaused = true
                return onPaused(source.id)
            }
            beginAnew(source)
        }
    }

    private func beginAnew(_ source: Source) {
        let former = source.partition
        renew(source)
        let (renewed, offset) = (source.partition, source.nextOffset)
        handler?.restarted(former, as: renewed, from: offset) { [weak self] in
            source.hasGoneBack = false
            self?.onNews()
        }
    }

    // MARK: - Fetch

    /// Keeps one request in flight to each broker that has something to fetch.
    /// - Parameter isChanged: True if the partitions to fetch, or their positions, have changed.
    func fetchAll(isChanged: Bool = true) {
        guard !isClosed, isReading else { return }
        for broker in Set(sources.keys.compactMap { link.leaders[$0]?.broker }).sorted() {
            if isChanged, let fetchTimeout = fetching[broker] { link.network.reach { $0.endSoon(fetchTimeout) } }
            fetch(from: broker)
        }
    }

    private func fetch(from broker: Int32) {
        guard fetching[broker] == nil, !isClosed, isReading else { return }
        let wanted = inOrder.filter { source in
            source.isFetched && source.isReadable && source.position != nil && source.notBefore <= now
                && source.queue.count < settings.prefetch && link.leaders[source.id]?.broker == broker
        }
        guard !wanted.isEmpty else { return }
        let fetchTimeout = FetchTimeout(step: settings.fetchWait)
        fetching[broker] = fetchTimeout
        let partitions = wanted.map { source in
            FetchRequest.Partition(
                source.id, offset: source.position ?? 0, leaderEpoch: link.leaders[source.id]?.epoch ?? -1,
                maxBytes: settings.fetchBytes)
        }
        let request = FetchRequest(partitions, isolation: .readCommitted, maxWait: settings.fetchWait)
        link.ask(.fetch, broker, { $0.fetch(request, at: broker, fetchTimeout: fetchTimeout, reply: $1) }) {
            [weak self] (result: Result<FetchResponse, NetworkFailure>) in
            guard let self else { return }
            fetching[broker] = nil
            switch result {
            case .success(let answer):
                for part in answer.partitions {
                    // Records of an ended assignment are dropped.
                    guard let source = wanted.first(where: { $0.id == part.partition }), sources[source.id] === source
                    else { continue }
                    take(part, for: source)
                }
                if hasRecords { onNews() }
                fetch(from: broker)
            case .failure:
                for source in wanted { link.forgetLeader(of: source.id) }
                refreshAndFetch()
            }
        }
    }

    private func refreshAndFetch() {
        link.after(ClientLink.backoff) { [weak self] in
            guard let self else { return }
            link.refresh(topics) { [weak self] _ in self?.fetchAll() }
        }
    }

    /// Returns the log of an answer.
    ///
    /// Clients name topics, so they continue in a recreated topic's log at their position in the former one. That position may be
    /// before the next record to return, because clients skip records of aborted transactions.
    private func origin(of part: FetchResponse.Partition, for source: Source) -> Origin {
        if let known = source.origin, known.topic == part.topicID { return known }
        let origin = Origin(topic: part.topicID, begin: source.position ?? 0)
        source.origin = origin
        return origin
    }

    private func take(_ part: FetchResponse.Partition, for source: Source) {
        switch part.error {
        case .none:
            source.end = part.highWatermark
            let origin = origin(of: part, for: source)
            for entry in part.entries where entry.offset >= source.position ?? .max {
                source.position = entry.offset + 1
                guard part.counts(entry) else { continue }
                source.queue.append(ConsumerRecord(entry, of: source.partition))
                source.origins.append(origin)
            }
            if source.queue.isEmpty { onWaiting(source.id, origin.begin, origin.topic) }
        case .offsetOutOfRange:
            source.lastReset = source.position
            reset(source, from: source.position)
        case .topicAuthorizationFailed:
            source.notBefore = now + ClusterRules.second
            link.after(ClusterRules.second) { [weak self] in self?.fetchAll() }
        default:
            link.forgetLeader(of: source.id)
            refreshAndFetch()
        }
    }
}

extension FetchResponse.Partition {
    /// False for a marker, and for a record of an aborted transaction.
    func counts(_ entry: LogEntry) -> Bool {
        guard entry.marker == nil else { return false }
        return !entry.isTransactional
            || !aborted.contains {
                $0.producerID == entry.producerID && $0.firstOffset <= entry.offset && entry.offset <= $0.lastOffset
            }
    }
}

extension ConsumerRecord {
    init(_ entry: LogEntry, of partition: AssignedPartition) {
        self.init(
            partition: partition, offset: entry.offset,
            timestamp: entry.record.timestamp.map { $0 / ClusterRules.millisecond }, key: entry.record.key,
            value: entry.record.value,
            headers: entry.record.headers.map { RecordHeader($0.name, $0.value) })
    }
}
