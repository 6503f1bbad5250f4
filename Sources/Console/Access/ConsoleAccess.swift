internal import HTTPServing
internal import Hummingbird
internal import Synchronization

/// Decides who may use the console.
///
/// With a token, a program shows it in each request (`Authorization: Bearer`), and a browser trades it once for a cookie.
/// Without one, only requests that name this machine as their host are answered: a page from elsewhere that has its own
/// name resolve to 127.0.0.1 is refused (DNS rebinding).
final class ConsoleAccess: Sendable {
    static let cookieName = "locsearch-console"

    /// How long a browser stays logged in, and how many can be at a time.
    private static let lifetime = Duration.seconds(12 * 3600)
    private static let mostLogins = 1000
    /// The wait before a wrong token is refused, so that nobody tries many of them.
    private static let penalty = Duration.milliseconds(500)

    private let token: BearerToken?
    private let hosts: Set<String>
    private let logins = Mutex<[String: ContinuousClock.Instant]>([:])

    /// - Parameters:
    ///   - token: `nil`: nobody needs one.
    ///   - host: the address that the console listens on, which is a name for this machine.
    init(token: BearerToken?, host: String) {
        self.token = token
        hosts = ["localhost", "127.0.0.1", "[::1]", host.lowercased()]
    }

    /// Returns why a request is not answered; `nil` for one that is.
    func refusal(of request: Request) -> ConsoleError? {
        if let token {
            let isLoggedIn = request.cookies[Self.cookieName].map { isLogin($0.value) } ?? false
            if isLoggedIn || token.admits(authorization: request.headers[.authorization]) { return nil }
            return ConsoleError(.unauthorized, "log in first, with the token of the setting console.token")
        }

        let name = request.head.authority.map(Self.hostName) ?? ""
        guard hosts.contains(name) else {
            return ConsoleError(.forbidden, "the console answers under localhost only, unless console.token is set")
        }
        return nil
    }

    /// Returns the cookie for a browser that has shown the token.
    /// - Throws: `unauthorized`, after a while, for another text.
    func logIn(showing text: String) async throws(ConsoleError) -> Cookie {
        guard let token, token.admits(text) else {
            try? await Task.sleep(for: Self.penalty)
            throw ConsoleError(.unauthorized, "this is not the token")
        }

        let login = (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
        logins.withLock { logins in
            let now = ContinuousClock.now
            logins = logins.filter { $0.value > now }
            if logins.count >= Self.mostLogins, let oldest = logins.min(by: { $0.value < $1.value }) {
                logins[oldest.key] = nil
            }
            logins[login] = now + Self.lifetime
        }
        return Cookie(name: Self.cookieName, value: login, path: "/", secure: false, httpOnly: true, sameSite: .strict)
    }

    private func isLogin(_ value: String) -> Bool {
        logins.withLock { ($0[value] ?? .now) > .now }
    }

    /// Returns the host of a `Host` header without its port, in lower case.
    private static func hostName(_ authority: String) -> String {
        let end = authority.lastIndex(of: ":").flatMap { colon in
            authority[colon...].contains("]") ? nil : colon
        }
        return authority[..<(end ?? authority.endIndex)].lowercased()
    }
}
