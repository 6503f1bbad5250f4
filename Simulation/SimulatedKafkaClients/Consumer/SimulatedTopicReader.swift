package import Kafka
internal import SimulatedKafka

/// A reader of whole topics without a group, as `TopicReader` is. Commits nothing.
package final class SimulatedTopicReader {
    fileprivate final class Source {
        let id: PartitionID
        var position: Int64
        var queue: [ConsumerRecord] = []
        /// The offset at which the partition ended, if that has not been reported yet.
        var end: Int64?
        /// The last reported end. Each end is reported once.
        var lastEnd: Int64?
        init(_ id: PartitionID, position: Int64) {
            self.id = id
            self.position = position
        }
    }

    private static let fetchWait = 100 * ClusterRules.millisecond

    private let link: ClientLink
    private var sources: [Source] = []
    /// The fetches in flight, by broker.
    private var fetching: [Int32: FetchTimeout] = [:]
    private var topics: [String] = []
    private let mode: TopicReader.Mode
    /// The reason why reading has stopped, with `everyRecord`.
    private var failure: KafkaError?
    /// Called when there is something to read.
    package var onNews: () -> Void = {}

    package init(clientID: String, network: SimulatedNetwork, mode: TopicReader.Mode = .whatIsThere) {
        link = ClientLink(id: clientID, network: network)
        self.mode = mode
    }

    /// Stops reading, as the end of the process does too.
    package func close() {
        link.network.disconnect(link.id)
        link.isClosed = true
        sources = []
    }

    // MARK: - Existing records

    /// Requests the current first and next offset of each partition of a topic.
    package func bounds(
        of topic: String, within bound: Int64,
        reply: @escaping (Result<[TopicPartition: Range<Int64>], KafkaError>) -> Void
    ) {
        look(topic, until: link.now + bound) { result in
            reply(
                result.map { ranges in
                    let pairs = ranges.map { (TopicPartition($0.key.topic, $0.key.partition), $0.value) }
                    return Dictionary(pairs) { first, _ in first }
                })
        }
    }

    /// Retries until `end`, as the original does.
    /// - Parameter code: the error of the last attempt.
    private func look(
        _ topic: String, until end: Int64, code: Int32 = LibraryCode.timedOut,
        reply: @escaping (Result<[PartitionID: Range<Int64>], KafkaError>) -> Void
    ) {
        guard link.now < end else {
            return reply(.failure(KafkaError(librdkafkaCode: code, doing: "look up topic \(topic)")))
        }
        let again = { [weak self] (code: Int32) in
            self?.link.after(ClientLink.backoff) { self?.look(topic, until: end, code: code, reply: reply) }
        }
        link.refresh([topic], within: end - link.now) { [weak self] hasAnswer in
            guard let self else { return }
            guard hasAnswer else { return again(LibraryCode.timedOut) ?? () }
            guard let count = link.partitionCounts[topic] else { return again(LibraryCode.unknownTopic) ?? () }
            let partitions = link.leaders.filter { $0.key.topic == topic }
            guard partitions.count == Int(count) else { return again(LibraryCode.timedOut) ?? () }

            ask(.earliest, partitions.mapValues(\.broker), until: end) { [weak self] starts in
                guard let starts else { return again(LibraryCode.timedOut) ?? () }
                self?.ask(.latest, partitions.mapValues(\.broker), until: end) { ends in
                    guard let ends else { return again(LibraryCode.timedOut) ?? () }
                    var ranges: [PartitionID: Range<Int64>] = [:]
                    for (id, end) in ends { ranges[id] = min(starts[id] ?? 0, end)..<end }
                    reply(.success(ranges))
                }
            }
        }
    }

    private var isolation: FetchRequest.Isolation { mode == .everyRecord ? .readUncommitted : .readCommitted }

    /// Queries the leaders one after another; `nil` if one does not answer.
    private func ask(
        _ query: ListOffsetsRequest.Query, _ leaders: [PartitionID: Int32], until end: Int64,
        found: [PartitionID: Int64] = [:], reply: @escaping ([PartitionID: Int64]?) -> Void
    ) {
        guard let (id, broker) = leaders.min(by: { $0.key < $1.key }) else { return reply(found) }
        let request = ListOffsetsRequest([id: query], isolation: isolation)
        link.ask(.listOffsets, broker, within: max(1, end - link.now), { $1($0.listOffsets(request, at: broker)) }) {
            [weak self] (result: Result<ListOffsetsResponse, NetworkFailure>) in
            guard let self, case .success(let answer) = result, let offset = answer.results[id], offset.error == .none
            else { return reply(nil) }
            var (found, left) = (found, leaders)
            found[id] = offset.offset
            left[id] = nil
            ask(query, left, until: end, found: found, reply: reply)
        }
    }

    // MARK: - New records

    /// Looks up the topics' partitions and begins to read them.
    package func open(
        _ topics: [String], at start: TopicReader.Start, within bound: Int64, reply: @escaping (KafkaError?) -> Void
    ) {
        let end = link.now + bound
        guard let topic = topics.first(where: { !self.topics.contains($0) }) else {
            fetchAll()
            return reply(nil)
        }
        look(topic, until: end) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): reply(error)
            case .success(let ranges):
                self.topics.append(topic)
                sources += ranges.sorted { $0.key < $1.key }.map { id, range in
                    switch start {
                    case .beginning: Source(id, position: range.lowerBound)
                    case .end: Source(id, position: range.upperBound)
                    case .newest(let count): Source(id, position: max(range.lowerBound, range.upperBound - count))
                    }
                }
                open(topics, at: start, within: end - link.now, reply: reply)
            }
        }
    }

    /// Begins to read each partition at the given offset, in place of any others. Their topics must have been looked up before.
    package func open(_ starts: [TopicPartition: Int64]) {
        sources = starts.map { Source(PartitionID($0.key.topic, $0.key.partition), position: $0.value) }
            .sorted { $0.id < $1.id }
        topics = Set(sources.map(\.id.topic)).sorted()
        failure = nil
        fetchAll()
    }

    /// True if `takeNews` would return or throw something.
    package var hasNews: Bool { hasRecords || failure != nil || sources.contains { $0.end != nil } }

    /// Returns available records, at most `max`, and the partitions that were read to their ends.
    package func takeNews(max: Int) throws(KafkaError) -> TopicReader.News {
        let records = takeRecords(max: max)
        var ends: [TopicPartition: Int64] = [:]
        for source in sources where source.queue.isEmpty {
            if let end = source.end { ends[TopicPartition(source.id.topic, source.id.partition)] = end }
            source.end = nil
        }
        // Records from before the failure come first.
        if records.isEmpty, ends.isEmpty, let failure { throw failure }
        return TopicReader.News(records: records, ends: ends)
    }

    package var hasRecords: Bool { sources.contains { !$0.queue.isEmpty } }

    /// Returns available records, at most `max`, oldest first within each partition.
    package func takeRecords(max: Int) -> [ConsumerRecord] {
        var records: [ConsumerRecord] = []
        for source in sources {
            let count = min(max - records.count, source.queue.count)
            records += source.queue.prefix(count)
            source.queue.removeFirst(count)
        }
        if !records.isEmpty { fetchAll() }
        return records
    }

    private func fetchAll() {
        guard !link.isClosed else { return }
        for broker in Set(sources.compactMap { link.leaders[$0.id]?.broker }).sorted() { fetch(from: broker) }
    }

    private func fetch(from broker: Int32) {
        let wanted = sources.filter { link.leaders[$0.id]?.broker == broker && $0.queue.count < 1_000 }
        guard failure == nil else { return }
        guard fetching[broker] == nil, !wanted.isEmpty, !link.isClosed else { return }
        let fetchTimeout = FetchTimeout(step: Self.fetchWait)
        fetching[broker] = fetchTimeout
        let partitions = wanted.map { FetchRequest.Partition($0.id, offset: $0.position) }
        let request = FetchRequest(partitions, isolation: isolation, maxWait: Self.fetchWait)
        // An answer without records shows where a partition ends, which is reported once.
        if wanted.contains(where: { $0.lastEnd != $0.position }) { fetchTimeout.end() }
        link.ask(.fetch, broker, { $0.fetch(request, at: broker, fetchTimeout: fetchTimeout, reply: $1) }) {
            [weak self] (result: Result<FetchResponse, NetworkFailure>) in
            guard let self else { return }
            fetching[broker] = nil
            guard case .success(let answer) = result else { return lookAgain() }
            var mustLookAgain = false
            for (source, part) in zip(wanted, answer.partitions) where sources.contains(where: { $0 === source }) {
                if !take(part, of: source) { mustLookAgain = true }
            }
            if hasNews { onNews() }
            if mustLookAgain { lookAgain() } else { fetch(from: broker) }
        }
    }

    /// - Returns: `false` if the partition's leader must be looked up again.
    private func take(_ part: FetchResponse.Partition, of source: Source) -> Bool {
        switch part.error {
        case .none: source.take(part, upTo: mode == .everyRecord ? part.highWatermark : part.lastStableOffset)
        case .offsetOutOfRange where mode == .everyRecord: fail(LibraryCode.autoOffsetReset)
        // After deletion or recreation, the partition is read from its beginning.
        case .offsetOutOfRange: source.position = part.logStart
        case .topicAuthorizationFailed where mode == .everyRecord: fail(Int32(part.error.rawValue))
        default: return false
        }
        return true
    }

    private func fail(_ code: Int32) {
        guard failure == nil else { return }
        failure = KafkaError(librdkafkaCode: code, doing: "read from Kafka")
    }

    private func lookAgain() {
        link.after(ClientLink.backoff) { [weak self] in
            guard let self else { return }
            link.refresh(topics) { [weak self] hasAnswer in
                guard let self else { return }
                guard hasAnswer else { return lookAgain() }
                noteMissingTopics()
                fetchAll()
                // A partition without a leader will get one, and a deleted topic may be recreated.
                if sources.contains(where: { self.link.leaders[$0.id] == nil }), failure == nil { lookAgain() }
            }
        }
    }
}

extension SimulatedTopicReader {
    /// Fails a reader of every record if its topic is gone.
    private func noteMissingTopics() {
        guard mode == .everyRecord, topics.contains(where: { link.partitionCounts[$0] == nil }) else { return }
        fail(LibraryCode.unknownTopic)
        onNews()
    }
}

extension SimulatedTopicReader.Source {
    /// - Parameter end: the offset up to which the reader may read.
    fileprivate func take(_ part: FetchResponse.Partition, upTo end: Int64) {
        // As in librdkafka, which checks this before it reads on: an answer without further records marks the end.
        if position == end, lastEnd != end { (self.end, lastEnd) = (end, end) }
        let partition = AssignedPartition(TopicPartition(id.topic, id.partition), epoch: 0)
        for entry in part.entries where entry.offset >= position {
            position = entry.offset + 1
            if part.counts(entry) { queue.append(ConsumerRecord(entry, of: partition)) }
        }
    }
}
