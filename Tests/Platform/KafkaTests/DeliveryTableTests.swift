import Testing

@testable import Kafka

/// A record's report reaches its waiter, whether it comes before or after the wait.
struct DeliveryTableTests {
    private static let refusal = DeliveryTable.Report.failure(KafkaError(.recordTooLarge, "too large"))

    @Test(arguments: [true, false])
    func `A listener is called once, before the report or after it`(comesFirst: Bool) {
        let table = DeliveryTable()
        let slot = table.reserve()
        table.begin(slot)
        var told: [DeliveryTable.Report] = []

        if !comesFirst { table.finish(slot, Self.refusal) }
        table.tell(slot) { told.append($0) }
        if comesFirst { table.finish(slot, Self.refusal) }

        #expect(told == [Self.refusal])
        #expect(table.undelivered == 0)
        #expect(table.reserve() == slot, "the entry is free again")
    }

    @Test(arguments: [true, false])
    func `A waiter is resumed, before the report or after it`(comesFirst: Bool) async {
        let table = DeliveryTable()
        let slot = table.reserve()
        table.begin(slot)

        if !comesFirst { table.finish(slot, Self.refusal) }
        let report = await unsafe withUnsafeContinuation { waiter in
            unsafe table.await(slot, waiter)
            if comesFirst { table.finish(slot, Self.refusal) }
        }

        #expect(report == Self.refusal)
        #expect(table.reserve() == slot)
    }

    @Test func `The end is reported once for each record in flight`() {
        let table = DeliveryTable()
        var told = 0
        for _ in 0..<3 {
            let slot = table.reserve()
            table.begin(slot)
            table.tell(slot) { _ in told += 1 }
        }
        table.fail(with: .closed)
        for slot in 0..<3 { table.finish(slot, Self.refusal) }
        #expect(told == 3)
    }
}
