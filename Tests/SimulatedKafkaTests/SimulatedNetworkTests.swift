import SimulatedKafka
import SimulatedKafkaClients
import Testing

struct SimulatedNetworkTests {
    /// One request is with the broker, which has not answered it yet, and the other waits behind it.
    @Test func requestsWithoutAnAnswerFailWhenTheirBrokerStops() {
        let fixture = ClientFixture()
        var failures: [NetworkFailure] = []
        for _ in 0..<2 {
            fixture.network.send(
                .joinGroup, from: "client", to: 1, within: .seconds(60),
                perform: { (_: SimulatedCluster, _: @escaping (Int) -> Void) in },
                reply: { (result: Result<Int, NetworkFailure>) in
                    if case .failure(let failure) = result { failures.append(failure) }
                })
        }
        fixture.pass(.seconds(1))
        #expect(failures.isEmpty)

        fixture.network.stop(1)
        fixture.pass(.seconds(1))
        #expect(failures == [.disconnected, .disconnected])
    }

    @Test func answersOnOneConnectionKeepTheirOrder() {
        let fixture = ClientFixture()
        var delay = Int64.milliseconds(50)
        fixture.network.fate = { _ in
            defer { delay = 1 }
            return SimulatedNetwork.Fate(requestDelay: 1, answerDelay: delay)
        }
        var answered: [Int] = []
        var times: [Int64] = []
        for number in 1...2 {
            fixture.network.send(
                .heartbeat, from: "client", to: 1, within: .seconds(60),
                perform: { (_: SimulatedCluster, answer: @escaping (Int) -> Void) in answer(number) },
                reply: { (result: Result<Int, NetworkFailure>) in
                    if case .success(let answer) = result { answered.append(answer) }
                    times.append(fixture.scheduler.now)
                })
        }
        fixture.pass(.seconds(1))
        #expect(answered == [1, 2])
        // At one time, a scheduler may run them in any order.
        #expect(Set(times).count == 2)
    }
}
