import SimulatedKafka
import SimulatedKafkaClients
import Testing

struct SimulatedNetworkTests {
    /// One request is at the broker without an answer, and the other waits behind it.
    @Test func `Requests without an answer fail when their broker stops`() {
        let fixture = ClientFixture()
        var failures: [NetworkFailure] = []
        for _ in 0..<2 {
            fixture.send(.joinGroup, answer: nil) { result in
                if let failure = result.failure { failures.append(failure) }
            }
        }
        fixture.pass(.seconds(1))
        #expect(failures.isEmpty)

        fixture.network.stop(1)
        fixture.pass(.seconds(1))
        #expect(failures == [.disconnected, .disconnected])
    }

    @Test func `Answers on one connection keep their order`() {
        let fixture = ClientFixture()
        var delay = Int64.milliseconds(50)
        fixture.network.fate = { _ in
            defer { delay = 1 }
            return SimulatedNetwork.Fate(requestDelay: 1, answerDelay: delay)
        }
        var answered: [Int] = []
        var times: [Int64] = []
        for number in 1...2 {
            fixture.send(answer: number) { result in
                if case .success(let answer) = result { answered.append(answer) }
                times.append(fixture.scheduler.now)
            }
        }
        fixture.pass(.seconds(1))
        #expect(answered == [1, 2])
        // At the same time, a scheduler may run them in any order.
        #expect(Set(times).count == 2)
    }

    /// The second of four messages is lost. The first arrives, none of the following does, and the client reconnects.
    @Test(arguments: [SimulatedNetwork.Direction.requests, .answers])
    func `A lost message ends its connection`(direction: SimulatedNetwork.Direction) {
        let fixture = ClientFixture()
        var sent = 0
        fixture.network.fate = { _ in
            sent += 1
            var fate = SimulatedNetwork.Fate(
                requestDelay: 1, answerDelay: 1, noticedAfter: .milliseconds(500))
            if sent == 2, direction == .requests { fate.requestDelay = nil }
            if sent == 2, direction == .answers { fate.answerDelay = nil }
            return fate
        }

        var arrived: [Int] = []
        var results: [Int: Result<Int, NetworkFailure>] = [:]
        var times: [Int: Int64] = [:]
        func send(_ number: Int) {
            fixture.send(answer: number, arrived: { arrived.append(number) }) { result in
                results[number] = result
                times[number] = fixture.scheduler.now
            }
        }
        for number in 1...3 { send(number) }
        fixture.pass(.milliseconds(100))
        #expect(results == [1: .success(1)])
        #expect(arrived == (direction == .requests ? [1] : [1, 2, 3]))

        fixture.pass(.milliseconds(900))
        #expect(results[2] == .failure(.disconnected))
        #expect(results[3] == .failure(.disconnected))
        #expect(times[3] == times[2])

        send(4)
        fixture.pass(.seconds(1))
        #expect(results[4] == .success(4))
    }

    @Test func `A request that times out ends its connection`() {
        let fixture = ClientFixture()
        var results: [Result<Int, NetworkFailure>] = []
        fixture.network.cut("client", from: 1, [.answers])
        for seconds in [Int64.seconds(60), .seconds(5)] {
            fixture.send(within: seconds, answer: 1) { results.append($0) }
        }
        fixture.pass(.seconds(6))
        #expect(results == [.failure(.timedOut), .failure(.disconnected)])
    }

    @Test func `Attempts to connect come at growing intervals`() {
        let fixture = ClientFixture()
        fixture.network.stop(1)
        var failures: [Int64] = []
        func send() {
            fixture.send(.metadata, answer: nil) { _ in
                failures.append(fixture.scheduler.now)
                if failures.count < 12 { send() }
            }
        }
        send()
        fixture.pass(.seconds(100))
        let pauses = zip(failures.dropFirst(), failures).map { ($0 - $1) / .milliseconds(100) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 100, 100, 100, 100])
    }
}
