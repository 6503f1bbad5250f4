import Testing

@testable import QuotaSharing

/// The precedence of several orders.
struct ControlBookTests {
    private func order(
        _ control: ControlOrder.Control = .rate, of provider: String? = "hotpepper", number: Double? = nil,
        for instance: String? = nil, until: Int64? = nil, isTakenBack: Bool = false
    ) -> ControlOrder {
        var order = ControlOrder(control, provider: provider, number: number, until: until, by: "mori", at: 0)
        (order.instance, order.isTakenBack) = (instance, isTakenBack)
        return order
    }

    private func rates(_ orders: [ControlOrder], for instance: String? = "a", at time: Int64 = 0) -> [Double?] {
        var book = ControlBook()
        for order in orders { book.apply(order) }
        return book.inForce(for: instance, at: time).map(\.number)
    }

    @Test func `The later of two orders for the same control applies`() {
        #expect(rates([order(number: 5), order(number: 7)]) == [7])
        #expect(rates([order(number: 5), order(of: "google-places", number: 7)]) == [5, 7])
    }

    @Test func `An order to one worker precedes the fleet's order there`() {
        let orders = [order(number: 5), order(number: 7, for: "a")]
        #expect(rates(orders, for: "a") == [7])
        #expect(rates(orders, for: "b") == [5])
        #expect(rates(orders, for: nil) == [5])
    }

    @Test func `The fleet's order applies again when the worker's has ended`() {
        let orders = [order(number: 5), order(number: 7, for: "a", until: 100)]
        #expect(rates(orders, at: 99) == [7])
        #expect(rates(orders, at: 100) == [5])
    }

    @Test func `A later order to the fleet replaces those to single workers`() {
        #expect(rates([order(number: 7, for: "a"), order(number: 5)]) == [5])
        #expect(rates([order(number: 7, for: "a"), order(isTakenBack: true)]) == [])
    }

    @Test func `One worker can be excepted from an order to the fleet`() {
        let orders = [order(number: 5), order(for: "a", isTakenBack: true)]
        #expect(rates(orders, for: "a") == [])
        #expect(rates(orders, for: "b") == [5])
        #expect(rates(orders + [order(number: 6)], for: "a") == [6])
    }

    @Test func `An ended order is removed with its exceptions`() {
        var book = ControlBook()
        for order in [order(number: 5, until: 100), order(for: "a", isTakenBack: true)] { book.apply(order) }
        #expect(book.nextEnd(after: 99) == 100)
        #expect(book.nextEnd(after: 100) == nil, "one that is over does not end again")
        book.removeOver(at: 99)
        #expect(book.orders.count == 2)
        book.removeOver(at: 100)
        #expect(book.orders.isEmpty)
    }

    @Test func `A drain a retry and a withdrawal leave no order`() {
        #expect(rates([order(.retry)]) == [])
        #expect(rates([order(.drain, of: nil, for: "a")]) == [])
        var book = ControlBook()
        book.apply(order(for: "a", isTakenBack: true))
        #expect(book.orders.isEmpty)
    }

    @Test func `Orders to former workers do not accumulate`() {
        var book = ControlBook()
        book.apply(order(number: 1))
        for number in 0..<1200 { book.apply(order(number: 2, for: "\(number)")) }
        #expect(book.orders.count == 1025)
        #expect(book.orders.first?.instance == nil)
        #expect(book.orders.last?.instance == "1199")
    }

    @Test func `Orders to a hundred workers are all in force`() {
        var book = ControlBook()
        for number in 0..<100 { book.apply(order(number: Double(number), for: "\(number)")) }
        for number in 0..<100 {
            #expect(book.inForce(for: "\(number)", at: 0).map(\.number) == [Double(number)])
        }
    }

    /// Clients and topics of Kafka accept records of about 1 MB by default.
    @Test func `A snapshot with the most orders fits into a record`() {
        var book = ControlBook()
        for number in 0..<1200 {
            let instance = "6F3C1A52-9B1E-4D0A-8C55-2E1F7A90B3C4-\(number)"
            var long = order(.pauseProvider, number: 0.25, for: instance, until: .max)
            long.worker = String(repeating: "w", count: 253)
            long.by = String(repeating: "b", count: 253)
            book.apply(long)
        }
        for number in 0..<300 {
            var long = order(.pauseProvider, number: 0.25, until: .max)
            (long.provider, long.by) = ("provider-\(number)", String(repeating: "b", count: 253))
            book.apply(long)
        }
        let snapshot = ControlMessage.Snapshot(offset: .max, orders: book.orders)
        let message = ControlMessage(sender: "6F3C1A52-9B1E-0", snapshot: snapshot)
        #expect(FleetCodec(fleet: "workers/requests").bytes(of: .control(message)).count < 1_000_000)
    }
}
