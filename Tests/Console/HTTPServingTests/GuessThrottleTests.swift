import HTTPServing
import Synchronization
import TestSupport
import Testing

/// The limit on wrong tokens of a client.
struct GuessThrottleTests {
    private let time = VirtualTime()

    private func throttle() -> GuessThrottle { GuessThrottle(now: { [time] in time.now }) }

    /// Sends wrong tokens.
    /// - Returns: the number of tokens that were compared.
    private func guess(_ count: Int, from address: String?, at throttle: GuessThrottle) -> Int {
        (0..<count).count { _ in throttle.judge(from: address) { false } == .wrong }
    }

    @Test func `A client has ten guesses, and then one every two seconds`() {
        let throttle = throttle()
        #expect(guess(5000, from: "192.0.2.1", at: throttle) == 10)

        time.run(for: .seconds(2))
        #expect(guess(5000, from: "192.0.2.1", at: throttle) == 1)
        time.run(for: .seconds(3600))
        #expect(guess(5000, from: "192.0.2.1", at: throttle) == 10)
    }

    @Test func `A right token is not compared either while a client must wait`() {
        let throttle = throttle()
        _ = guess(10, from: "192.0.2.1", at: throttle)
        #expect(throttle.judge(from: "192.0.2.1") { true } == .tooEarly(.seconds(2)))

        time.run(for: .seconds(2))
        #expect(throttle.judge(from: "192.0.2.1") { true } == .right)
    }

    @Test func `A right token costs no guess`() {
        let throttle = throttle()
        for _ in 0..<1000 { #expect(throttle.judge(from: "192.0.2.1") { true } == .right) }
    }

    @Test func `One client's guesses do not limit another client`() {
        let throttle = throttle()
        _ = guess(100, from: "192.0.2.1", at: throttle)
        #expect(throttle.judge(from: "192.0.2.2") { true } == .right)
        #expect(throttle.judge(from: "::ffff:192.0.2.3") { true } == .right)
    }

    @Test(arguments: [
        ("2001:db8::1", "2001:db8::2"), ("2001:db8:0:0:1:2:3:4", "2001:db8::9"), ("fe80::1%eth0", "fe80::2"),
    ])
    func `A network of IPv6 addresses is one client`(first: String, second: String) {
        let throttle = throttle()
        #expect(guess(10, from: first, at: throttle) == 10)
        #expect(guess(10, from: second, at: throttle) == 0)
        #expect(guess(10, from: "2001:db8:1::1", at: throttle) == 10)
    }

    @Test(arguments: ["", ":", "::", ":::", "a::b::c", "%", "1:2:3:4:5:6:7:8:9"])
    func `An address of any form is a client`(address: String) {
        #expect(guess(20, from: address, at: throttle()) == 10)
    }

    @Test func `Clients beyond the bound share their guesses`() {
        let throttle = throttle()
        let looked = (0..<3000).reduce(0) { sum, number in
            sum + guess(10, from: "198.51.\(number / 250).\(number % 250)", at: throttle)
        }
        #expect(looked <= 10_020)

        time.run(for: .seconds(60))
        #expect(guess(10, from: "203.0.113.1", at: throttle) == 10, "those that rested are forgotten")
    }
}
