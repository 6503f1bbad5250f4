package import Basics
internal import Synchronization

/// Bounds the number of wrong tokens from a client, however it sends them. Safe to use from any thread.
///
/// While a client has no guess left, its tokens are not checked, not even the right one. Otherwise a client could abandon
/// each guess whose answer is late, and would know that the guess was wrong.
package final class GuessThrottle: Sendable {
    /// The verdict on a token.
    package enum Verdict: Sendable, Hashable {
        case right
        case wrong
        /// The token was not checked. The client may send one after this time.
        case tooEarly(Duration)
    }

    /// The number of guesses that a client has left.
    private struct Allowance {
        var guesses: Double
        var asOf: Instant
    }

    /// The number of wrong tokens that a client may send at once.
    package static let mostGuesses = 10
    /// The time after which a client may send one more.
    package static let timePerGuess = Duration.seconds(2)
    /// The maximum number of clients that are counted separately. All others count as one.
    private static let mostClients = 1000
    private static let otherClients = "others"

    private let now: @Sendable () -> Instant
    private let clients = Mutex<[String: Allowance]>([:])

    /// - Parameter now: returns the present time.
    package init(now: @escaping @Sendable () -> Instant = { .now }) { self.now = now }

    /// Checks a client's token, unless the client has sent too many wrong ones.
    /// - Parameters:
    ///   - address: the client's address without its port; `nil` if unknown.
    ///   - isRight: compares the token. It is called at most once, and must not wait.
    package func judge(from address: String?, _ isRight: () -> Bool) -> Verdict {
        let time = now()
        return clients.withLock { clients in
            let name = Self.name(of: address, among: clients)
            var allowance = Self.allowance(clients[name], at: time)
            guard allowance.guesses >= 1 else { return .tooEarly(Self.timePerGuess * (1 - allowance.guesses)) }
            if isRight() { return .right }

            allowance.guesses -= 1
            clients[name] = allowance
            if clients.count > Self.mostClients { Self.forgetRested(&clients, at: time) }
            return .wrong
        }
    }

    private static func allowance(_ known: Allowance?, at time: Instant) -> Allowance {
        guard let known else { return Allowance(guesses: Double(mostGuesses), asOf: time) }
        let regained = max(known.asOf.duration(to: time) / timePerGuess, 0)
        return Allowance(guesses: min(known.guesses + regained, Double(mostGuesses)), asOf: time)
    }

    private static func forgetRested(_ clients: inout [String: Allowance], at time: Instant) {
        clients = clients.filter { allowance($0.value, at: time).guesses < Double(mostGuesses) }
    }

    private static func name(of address: String?, among clients: borrowing [String: Allowance]) -> String {
        guard let address else { return otherClients }
        let name = address.contains(":") && !address.contains(".") ? network(of: address) : address
        return clients.count < mostClients || clients[name] != nil ? name : otherClients
    }

    /// Returns the first 64 bits of an IPv6 address, because the owner of a network can use any number of addresses in it.
    private static func network(of address: String) -> String {
        let halves = address.prefix { $0 != "%" }.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let groups = halves.map { $0.split(separator: ":").map(String.init) }
        let (head, tail) = (groups.first ?? [], groups.dropFirst().first ?? [])
        let zeros = Array(repeating: "0", count: max(8 - head.count - tail.count, 0))
        return (head + zeros + tail).prefix(4).joined(separator: ":")
    }
}
