import Testing

@testable import Kafka

struct ReadProgressTests {
    private let first = TopicPartition("t", 0)
    private let second = TopicPartition("t", 1)

    @Test func `A topic without records is complete at once`() {
        #expect(ReadProgress(upTo: [:]).isComplete)
        #expect(ReadProgress(upTo: [first: 0, second: 0]).isComplete)
    }

    @Test func `A partition that begins at its end is complete at once`() {
        #expect(ReadProgress(from: [first: 5], upTo: [first: 5]).isComplete)
        #expect(ReadProgress(from: [first: 5], upTo: [first: 6, second: 1]).open == [first, second])
    }

    @Test func `The last record completes only its partition`() {
        var progress = ReadProgress(upTo: [first: 2, second: 1])

        let isFirstTaken = progress.take(1, of: first)
        #expect(isFirstTaken && progress.open == [second])
        let isSecondTaken = progress.take(0, of: second)
        #expect(isSecondTaken && progress.isComplete)
    }

    @Test func `The reported end completes a partition without a record there`() {
        // Offsets 3 and 4 are the end of a transaction, and a record of an aborted one: readers never get them.
        var progress = ReadProgress(upTo: [first: 5])

        let isTaken = progress.take(2, of: first)
        #expect(isTaken && !progress.isComplete)
        progress.reachEnd(at: 5, of: first)
        #expect(progress.isComplete)
    }

    @Test func `A reported end below the known one is ignored`() {
        // A lagging replica ends earlier than its leader did.
        var progress = ReadProgress(upTo: [first: 5])

        progress.reachEnd(at: 4, of: first)
        #expect(!progress.isComplete)
    }

    @Test func `A later record completes the partition and is not returned`() {
        var progress = ReadProgress(upTo: [first: 5])

        let isTaken = progress.take(7, of: first)
        #expect(!isTaken && progress.isComplete)
    }

    @Test func `Other partitions do not count`() {
        var progress = ReadProgress(upTo: [first: 5])

        let isTaken = progress.take(0, of: second)
        #expect(!isTaken)
        progress.reachEnd(at: 9, of: second)
        #expect(progress.open == [first])
    }
}
