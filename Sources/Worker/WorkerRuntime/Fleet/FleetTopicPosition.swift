internal import Kafka
internal import QuotaSharing

/// The offset up to which the fleet topic has been read.
struct FleetTopicPosition {
    /// The offset after the newest record that was read.
    private var next: Int64 = 0
    /// The end of the topic when reading began.
    private var firstEnd: Int64 = 0
    private var isDeleted = false
    private let decode: @Sendable ([UInt8]) -> FleetMessage?

    init(decode: @escaping @Sendable ([UInt8]) -> FleetMessage?) { self.decode = decode }

    /// Records that the topic does not exist at present.
    mutating func noteDeleted() { isDeleted = isDeleted || reached > 0 }

    /// The highest offset that the topic is known to have reached. A reader that was opened again may not have read
    /// this far.
    private var reached: Int64 { max(next, firstEnd) }

    /// Records the offset at which reading begins, and the end of the topic at that time.
    /// - Returns: true if the topic was deleted and created again since the last read.
    mutating func begin(at first: Int64, end: Int64) -> Bool {
        let isRemade = isDeleted || end < reached
        (next, firstEnd, isDeleted) = (first, end, false)
        return isRemade
    }

    /// Returns true if the topic ends before the end that it had when reading began. It was then created again with
    /// fewer records, and reading would report no error until it has as many again.
    func endsEarly(in news: TopicReader.News) -> Bool {
        news.ends.contains { partition, end in partition.partition == 0 && end < firstEnd }
    }

    /// Returns the records that were read, oldest first. Ignores partitions other than 0.
    mutating func take(_ news: TopicReader.News) -> [FleetRecord] {
        var taken: [FleetRecord] = []
        for record in news.records where record.partition.id.partition == 0 && record.offset >= next {
            next = record.offset + 1
            taken.append(message(record))
        }

        // The last offsets of the topic may hold no records.
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
