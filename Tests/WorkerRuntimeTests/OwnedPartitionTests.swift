import EventContract
import Kafka
import Testing

@testable import LocationSearch
@testable import WorkerRuntime

/// What a worker gives up at once when a partition goes to another.
struct OwnedPartitionTests {
    private let partition = OwnedPartition(AssignedPartition(TopicPartition("requests", 0), epoch: 1))

    private func take(_ count: Int64) throws -> [Flight] {
        try (0..<count).map { offset in
            let slot = partition.tracker.begin(offset)
            let flight = Flight(
                record: IncomingRecord(ConsumerRecord(partition: partition.id, offset: offset)), partition: partition,
                slot: try #require(slot))
            partition.flights[ObjectIdentifier(flight)] = flight
            return flight
        }
    }

    private func finish(_ flight: Flight) {
        partition.tracker.finish(flight.slot)
        partition.flights[ObjectIdentifier(flight)] = nil
    }

    private func givenUp(_ flights: [Flight]) -> [Bool] { flights.map { $0.fate == .abandoned } }

    @Test func whatHasCostNothingIsGivenUp() throws {
        let flights = try take(3)
        partition.giveUpUnpaid()
        #expect(givenUp(flights) == [true, true, true])
    }

    /// Its next owner begins where we end: what comes before a call that was made may not be left to it.
    @Test func whatComesBeforeACallGoesOn() throws {
        let flights = try take(4)
        flights[1].note.noteCall()
        partition.giveUpUnpaid()
        #expect(givenUp(flights) == [false, false, true, true])
    }

    @Test func whatComesBeforeAFinishedOneGoesOn() throws {
        let flights = try take(4)
        finish(flights[2])
        partition.giveUpUnpaid()
        #expect(givenUp(flights) == [false, false, false, true])
    }

    @Test func whatIsBehindTheFrontierHoldsNothingUp() throws {
        let flights = try take(3)
        finish(flights[0])
        partition.giveUpUnpaid()
        #expect(givenUp(flights) == [false, true, true])
    }

    @Test func whatIsBeingPublishedGoesOn() throws {
        let flights = try take(3)
        flights[1].isPublishing = true
        partition.giveUpUnpaid()
        #expect(givenUp(flights) == [false, false, true])
    }
}
