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
        return book.inForce(for: instance, at: time).map { $0.number?.value }
    }

    @Test func `Later of two orders about the same thing counts`() {
        #expect(rates([order(number: 5), order(number: 7)]) == [7])
        #expect(rates([order(number: 5), order(of: "google-places", number: 7)]) == [5, 7])
    }

    @Test func `Order to one worker counts there before the fleets`() {
        let orders = [order(number: 5), order(number: 7, for: "a")]
        #expect(rates(orders, for: "a") == [7])
        #expect(rates(orders, for: "b") == [5])
        #expect(rates(orders, for: nil) == [5])
    }

    @Test func `Fleets order counts again when the workers is over`() {
        let orders = [order(number: 5), order(number: 7, for: "a", until: 100)]
        #expect(rates(orders, at: 99) == [7])
        #expect(rates(orders, at: 100) == [5])
    }

    @Test func `Later order to the fleet replaces those to single workers`() {
        #expect(rates([order(number: 7, for: "a"), order(number: 5)]) == [5])
        #expect(rates([order(number: 7, for: "a"), order(isTakenBack: true)]) == [])
    }

    @Test func `One worker is taken out of an order to the fleet`() {
        let orders = [order(number: 5), order(for: "a", isTakenBack: true)]
        #expect(rates(orders, for: "a") == [])
        #expect(rates(orders, for: "b") == [5])
        #expect(rates(orders + [order(number: 6)], for: "a") == [6])
    }

    @Test func `What is over is forgotten with its exceptions`() {
        var book = ControlBook()
        for order in [order(number: 5, until: 100), order(for: "a", isTakenBack: true)] { book.apply(order) }
        #expect(book.nextEnd(after: 99) == 100)
        #expect(book.nextEnd(after: 100) == nil, "one that is over does not end again")
        book.removeOver(at: 99)
        #expect(book.orders.count == 2)
        book.removeOver(at: 100)
        #expect(book.orders.isEmpty)
    }

    @Test func `Drain and taking back leave nothing`() {
        #expect(rates([order(.drain, of: nil, for: "a")]) == [])
        var book = ControlBook()
        book.apply(order(for: "a", isTakenBack: true))
        #expect(book.orders.isEmpty)
    }

    @Test func `Orders to workers that are gone do not pile up`() {
        var book = ControlBook()
        book.apply(order(number: 1))
        for number in 0..<1000 { book.apply(order(number: 2, for: "\(number)")) }
        #expect(book.orders.count == 65)
        #expect(book.orders.first?.instance == nil)
        #expect(book.orders.last?.instance == "999")
    }
}
