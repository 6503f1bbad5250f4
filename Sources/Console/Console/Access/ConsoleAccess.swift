internal import Basics
internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore
internal import JSON
internal import NIOCore
internal import Synchronization

/// Decides which requests may use the console.
///
/// With a token, a program sends it in each request (`Authorization: Bearer`), and a browser exchanges it once for a
/// cookie. Both use the same throttle: see `GuessThrottle`. Without a token, the `Host` of a request must be this machine
/// or an allowed host. This rejects pages from other sites whose names resolve to this machine's address (DNS rebinding).
final class ConsoleAccess: Sendable {
    /// Random, because browsers send all cookies of a host to each port: two consoles must not replace each other's.
    private let cookieName = "locsearch-console-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"

    /// The lifetime of a browser's login, and the maximum number of logins.
    private static let lifetime = Duration.seconds(12 * 3600)
    private static let mostLogins = 1000

    private let token: BearerToken?
    private let hosts: Set<String>
    private let throttle = GuessThrottle()
    /// The end of each login, and the generation of the token with which it began: a new token ends all logins.
    private let logins = Mutex<[String: (end: Instant, generation: Int)]>([:])

    /// - Parameters:
    ///   - token: `nil`: no token is needed.
    ///   - hosts: the names and addresses under which the console answers without a token, in addition to this machine's own.
    init(token: BearerToken?, hosts: [String]) {
        self.token = token
        self.hosts = Set(["localhost", "127.0.0.1", "[::1]"] + hosts.map(Self.inBrackets))
    }

    /// Returns a host in the form of a `Host` header: in lower case, with an IPv6 address in brackets.
    private static func inBrackets(_ host: String) -> String {
        let host = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress ?? host.lowercased()
        return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    /// Returns the refusal of a request; `nil` if it is allowed.
    /// - Parameter address: the client's address.
    func refusal(of request: Request, from address: String?) -> ConsoleError? {
        guard let token else { return refusal(ofHost: request.head.authority.map(Self.hostName) ?? "") }

        if let cookies = request.headers[.cookie], shownLogins(in: cookies).contains(where: { isLogin($0, token) }) {
            return nil
        }
        guard let shown = BearerToken.text(in: request.headers[.authorization]) else {
            return ConsoleError(.unauthorized, "log in first, with the token of the setting console.token")
        }
        return Self.refusal(throttle.judge(from: address) { token.admits(shown) })
    }

    private func refusal(ofHost name: String) -> ConsoleError? {
        if hosts.contains(name) { return nil }
        return ConsoleError(
            .forbidden,
            "the console does not answer under this name: add it to console.allowedHosts, or set console.token")
    }

    private static func refusal(_ verdict: GuessThrottle.Verdict) -> ConsoleError? {
        switch verdict {
        case .right: nil
        case .wrong: ConsoleError(.unauthorized, "this is not the token")
        case .tooEarly(let wait):
            ConsoleError(.tooEarly(wait), "too many wrong tokens came from this address: wait a few seconds")
        }
    }

    /// Returns the values of our cookie in a `Cookie` header.
    private func shownLogins(in cookies: String) -> [String] {
        cookies.split(separator: ";").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookieName else { return nil }
            return String(parts[1])
        }
    }

    /// Returns the value of the `Set-Cookie` header for a browser that has sent the token.
    /// - Throws: `unauthorized` for a wrong token; `tooEarly` after too many of them.
    func logIn(showing text: String, from address: String?) throws(ConsoleError) -> String {
        let generation = token?.generation ?? 0
        let verdict = throttle.judge(from: address) { token?.admits(text) ?? false }
        if let refusal = Self.refusal(verdict) { throw refusal }

        let login = (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
        logins.withLock { logins in
            let now = Instant.now
            logins = logins.filter { $0.value.end > now }
            if logins.count >= Self.mostLogins, let oldest = logins.min(by: { $0.value.end < $1.value.end }) {
                logins[oldest.key] = nil
            }
            logins[login] = (now + Self.lifetime, generation)
        }
        return "\(cookieName)=\(login); Path=/; HttpOnly; SameSite=Strict"
    }

    private func isLogin(_ value: String, _ token: BearerToken) -> Bool {
        guard let login = logins.withLock({ $0[value] }) else { return false }
        return login.end > .now && login.generation == token.generation
    }

    /// Returns the host of a `Host` header in lower case, without the port and the trailing dot of an absolute name.
    private static func hostName(_ authority: String) -> String {
        let end = authority.lastIndex(of: ":").flatMap { colon in
            authority[colon...].contains("]") ? nil : colon
        }
        let name = authority[..<(end ?? authority.endIndex)].lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

/// Exchanges the token, `{"token":"..."}`, for a cookie, so that a browser does not store the token.
struct LoginRoutes {
    let access: ConsoleAccess

    private static let mostBytes = 4096

    func add(to router: Router) {
        router.post("/api/login") { request, context in
            var token: String?
            try JSONBody.members(of: try await request.bytes(upTo: Self.mostBytes)) { name, json throws(JSONError) in
                if name == "token" { token = try json.string() } else { try json.skip() }
            }
            let cookie = try access.logIn(showing: token ?? "", from: context.clientAddress)

            return Response(status: .noContent, headers: [.setCookie: cookie])
        }
    }
}
