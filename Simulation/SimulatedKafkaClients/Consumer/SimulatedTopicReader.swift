package import Kafka
internal import SimulatedKafka

/// A reader of whole topics without a group, as `TopicReader` is one. Commits nothing.
package final class SimulatedTopicReader {
    fileprivate final class Source {
        let id: PartitionID
        var position: Int64
        var queue: [ConsumerRecord] = []
        init(_ id: PartitionID, position: Int64) {
            self.id = id
            self.position = position
        }
    }

    private static let fetchWait = 100 * ClusterRules.millisecond

    private let link: ClientLink
    private var sources: [Source] = []
    private var fetching: Set<Int32> = []
    private var topics: [String] = []
    /// Called when there is something to read.
    package var onNews: () -> Void = {}

    package init(clientID: String, network: SimulatedNetwork) { link = ClientLink(id: clientID, network: network) }

    /// Ends reading, as the end of the process does too.
    package func close() {
        link.network.disconnect(link.id)
        link.isClosed = true
        sources = []
    }

    // MARK: - What is there

    /// Asks where each partition of a topic begins and ends now.
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

    private func look(
        _ topic: String, until end: Int64, reply: @escaping (Result<[PartitionID: Range<Int64>], KafkaError>) -> Void
    ) {
        let what = "look up topic \(topic)"
        guard link.now < end else {
            return reply(.failure(KafkaError(librdkafkaCode: LibraryCode.timedOut, doing: what)))
        }
        link.refresh([topic], within: end - link.now) { [weak self] hasAnswer in
            guard let self else { return }
            let partitions = link.leaders.filter { $0.key.topic == topic }
            if hasAnswer, link.partitionCounts[topic] == nil {
                return reply(.failure(KafkaError(librdkafkaCode: LibraryCode.unknownTopic, doing: what)))
            }
            guard hasAnswer, partitions.count == Int(link.partitionCounts[topic] ?? -1) else {
                return link.after(ClientLink.backoff) { [weak self] in self?.look(topic, until: end, reply: reply) }
            }
            ask(.earliest, partitions.mapValues(\.broker), until: end) { [weak self] starts in
                self?.ask(.latest, partitions.mapValues(\.broker), until: end) { ends in
                    guard let starts, let ends else {
                        return reply(.failure(KafkaError(librdkafkaCode: LibraryCode.timedOut, doing: what)))
                    }
                    var ranges: [PartitionID: Range<Int64>] = [:]
                    for (id, end) in ends { ranges[id] = min(starts[id] ?? 0, end)..<end }
                    reply(.success(ranges))
                }
            }
        }
    }

    /// Asks the leaders one after the other; `nil` where one does not answer.
    private func ask(
        _ query: ListOffsetsRequest.Query, _ leaders: [PartitionID: Int32], until end: Int64,
        found: [PartitionID: Int64] = [:], reply: @escaping ([PartitionID: Int64]?) -> Void
    ) {
        guard let (id, broker) = leaders.min(by: { $0.key < $1.key }) else { return reply(found) }
        let request = ListOffsetsRequest([id: query])
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

    // MARK: - What goes by

    /// Looks the topics' partitions up and begins to read them.
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

    package var hasRecords: Bool { sources.contains { !$0.queue.isEmpty } }

    /// Takes what is there, at most `max` records, oldest first within each partition.
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
        guard !fetching.contains(broker), !wanted.isEmpty, !link.isClosed else { return }
        fetching.insert(broker)
        let partitions = wanted.map { FetchRequest.Partition($0.id, offset: $0.position) }
        let request = FetchRequest(partitions, isolation: .readCommitted, maxWait: Self.fetchWait)
        link.ask(.fetch, broker, { $0.fetch(request, at: broker, reply: $1) }) {
            [weak self] (result: Result<FetchResponse, NetworkFailure>) in
            guard let self else { return }
            fetching.remove(broker)
            guard case .success(let answer) = result else { return lookAgain() }
            var mustLookAgain = false
            for (source, part) in zip(wanted, answer.partitions) {
                switch part.error {
                case .none: source.take(part)
                // What was deleted, or made anew, is read from its beginning.
                case .offsetOutOfRange: source.position = part.logStart
                default: mustLookAgain = true
                }
            }
            if hasRecords { onNews() }
            if mustLookAgain { lookAgain() } else { fetch(from: broker) }
        }
    }

    private func lookAgain() {
        link.after(ClientLink.backoff) { [weak self] in
            guard let self else { return }
            link.refresh(topics) { [weak self] hasAnswer in
                if hasAnswer { self?.fetchAll() } else { self?.lookAgain() }
            }
        }
    }
}

extension SimulatedTopicReader.Source {
    fileprivate func take(_ part: FetchResponse.Partition) {
        let partition = AssignedPartition(TopicPartition(id.topic, id.partition), epoch: 0)
        for entry in part.entries where entry.offset >= position {
            position = entry.offset + 1
            if part.counts(entry) { queue.append(ConsumerRecord(entry, of: partition)) }
        }
    }
}
