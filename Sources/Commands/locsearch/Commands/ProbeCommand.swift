import ArgumentParser
internal import Basics
import EventLoop
import HTTPTransport

struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Checks a health endpoint, for containers that have no shell.",
        discussion: """
            Exit code 0 if the status of the response is 2xx; otherwise 69, with one line that gives the reason.
            Redirects are not followed.

              locsearch probe                                          the worker on this machine or in this container
              locsearch probe http://127.0.0.1:8090/_sim/stats         the simulator
            """)

    @Argument(help: "The URL to check, http or https.") var url = "http://127.0.0.1:8080/readyz"
    @Option(help: "Timeout of connecting and the response together, up to 1m.", transform: DurationArgument.read)
    var timeout = DurationArgument(.seconds(5))

    func validate() throws {
        try timeout.require(.milliseconds(1) ... .seconds(60), "--timeout")
    }

    func run() async throws {
        let loop = try EventLoop()
        var options = HTTPConfiguration()
        options.connectTimeout = timeout.duration
        let http = HTTPTransport(loop: loop, configuration: options)

        let failure = await failure(of: http)
        await http.shutdown()
        loop.stop()
        if let failure { throw failure }
    }

    /// Sends one request, and returns what is wrong.
    /// - Returns: `nil` if the server answered with a 2xx status.
    private func failure(of http: HTTPTransport) async -> (any Error)? {
        do throws(HTTPError) {
            let response = try await http.send(HTTPRequest(url: url), before: .now + timeout.duration)
            return (200..<300).contains(response.status) ? nil : Self.refusal(response)
        } catch {
            if error.kind == .invalidRequest { return ValidationError("URL: \(error)") }
            return Failure("\(error)", code: Failure.unreachable)
        }
    }

    /// The first line of the server's answer, shortened: `/readyz` gives the reason there.
    private static func refusal(_ response: HTTPResponse) -> Failure {
        let body = String(decoding: response.body.prefix(1000), as: UTF8.self)
        let firstLine = body.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let reason = firstLine.isEmpty ? "" : ": " + TerminalText.cut(TerminalText.safe(firstLine), to: 200)
        return Failure("status \(response.status)\(reason)", code: Failure.unreachable)
    }
}
