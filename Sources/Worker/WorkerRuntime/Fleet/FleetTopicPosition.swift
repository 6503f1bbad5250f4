internal import Kafka
internal import QuotaSharing

/// The offset up to which the fleet topic was read.
struct FleetTopicPosition {
    /// One past the newest offset that was read.
    private var next: Int64 = 0
    /// The end of the topic when its reading began.
    private var firstEnd: Int64 = 0
    private var isDeleted = false
    private let decode: @Sendable ([UInt8]) -> FleetMessage?

    init(decode: @escaping @Sendable ([UInt8]) -> FleetMessage? = FleetCodec.message) { self.decode = decode }

    /// Notes that there is no such topic at present.
    mutating func noteDeleted() { isDeleted = isDeleted || reached > 0 }

    /// The offset that the topic is known to have reached: a reading that began anew may not have come so far.
    private var reached: Int64 { max(next, firstEnd) }

    /// Takes in the offset at which reading begins, and the end of the topic then.
    /// - Returns: true when the topic was made anew since it was read last.
    mutating func begin(at first: Int64, end: Int64) -> Bool {
        let isRemade = isDeleted || end < reached
        (next, firstEnd, isDeleted) = (first, end, false)
        return isRemade
    }

    /// Returns true where the topic ends before the end that it had when its reading began: then it was made anew since, with fewer
    /// records, and nobody would say so before it has as many again.
    func endsEarly(in news: TopicReader.News) -> Bool {
        news.ends.contains { partition, end in partition.partition == 0 && end < firstEnd }
    }

    /// Returns the records that were read, oldest first. Records of other partitions than the first are ignored.
    mutating func take(_ news: TopicReader.News) -> [FleetRecord] {
        var taken: [FleetRecord] = []
        for record in news.records where record.partition.id.partition == 0 && record.offset >= next {
            next = record.offset + 1
            taken.append(message(record))
        }

        // The last offsets of the topic may hold no record.
        for (partition, end) in news.ends where partition.partition == 0 && end > next {
            next = end
            taken.append(FleetRecord(offset: end - 1, isOld: end <= firstEnd, message: nil))
        }
        return taken
    }

    private func message(_ record: ConsumerRecord) -> FleetRecord {
        FleetRecord(
            offset: record.offset, isOld: record.offset < firstEnd, message: record.value.flatMap(decode))
    }
}
