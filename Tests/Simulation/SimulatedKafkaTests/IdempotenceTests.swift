import SimulatedKafka
import Testing

struct IdempotenceTests {
    @Test func `Batch that comes twice is written once`() {
        let fixture = ClusterFixture()
        let producer = fixture.cluster.initProducerID(InitProducerIDRequest(nil)).producer
        #expect(fixture.produce(["a", "b"], by: producer, sequence: 0).baseOffset == 0)
        let again = fixture.produce(["a", "b"], by: producer, sequence: 0)

        #expect(again.error == .none)
        #expect(again.baseOffset == 0)
        #expect(fixture.fetch().entries.count == 2)
    }

    @Test(arguments: [(Int32(2), ErrorCode.none), (3, .outOfOrderSequenceNumber), (1, .outOfOrderSequenceNumber)])
    func `Sequence numbers must follow`(sequence: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        let producer = fixture.cluster.initProducerID(InitProducerIDRequest(nil)).producer
        fixture.produce(["a", "b"], by: producer, sequence: 0)
        #expect(fixture.produce(["c"], by: producer, sequence: sequence).error == expected)
    }

    @Test func `Only the last batches are remembered`() {
        let fixture = ClusterFixture()
        let producer = fixture.cluster.initProducerID(InitProducerIDRequest(nil)).producer
        for sequence in Int32(0)..<6 { fixture.produce(["a"], by: producer, sequence: sequence) }

        #expect(fixture.produce(["a"], by: producer, sequence: 1).baseOffset == 1)
        #expect(fixture.produce(["a"], by: producer, sequence: 0).error == .outOfOrderSequenceNumber)
    }

    @Test func `Numbers go on from zero after the largest`() {
        let fixture = ClusterFixture()
        let producer = ProducerIdentity(id: 77, epoch: 0)
        #expect(fixture.produce(["a"], by: producer, sequence: .max).error == .none)
        #expect(fixture.produce(["b"], by: producer, sequence: 0).error == .none)
    }

    @Test(arguments: [
        (Int16(0), Int32(1), ErrorCode.invalidProducerEpoch), (2, 0, .none), (2, 1, .outOfOrderSequenceNumber),
    ])
    func `Epochs begin anew`(epoch: Int16, sequence: Int32, expected: ErrorCode) {
        let fixture = ClusterFixture()
        fixture.produce(["a"], by: ProducerIdentity(id: 5, epoch: 1), sequence: 0)
        let result = fixture.produce(["b"], by: ProducerIdentity(id: 5, epoch: epoch), sequence: sequence)
        #expect(result.error == expected)
    }

    @Test func `Producer that is forgotten may go on with any number`() {
        let fixture = ClusterFixture()
        let producer = ProducerIdentity(id: 5, epoch: 0)
        fixture.produce(["a"], by: producer, sequence: 0)
        fixture.pass(.seconds(86_401))
        #expect(fixture.produce(["b"], by: producer, sequence: 9).error == .none)
    }
}
