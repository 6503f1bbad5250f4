import ArgumentParser
import ProviderSimulator

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Runs the provider simulator: all three APIs on loopback.",
        discussion: """
            Prints its base URL on its first line and runs until SIGTERM. Point the worker's three base URLs there:

              locsearch simulate --port 8090 --latency p50:80ms,p99:900ms --faults 503:0.02,reset:0.01
              HOTPEPPER_BASE_URL=http://127.0.0.1:8090 HOTPEPPER_API_KEY=any locsearch worker

            GET /_sim/stats shows what was asked, POST /_sim/config changes latency, faults, capacity and quota,
            POST /_sim/reset forgets the counts. `--list-faults` shows what a keyword fault:NAME does to one request.
            """)

    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0: any free one.") var port = 0
    @Option(help: "Names the world: the same seed has the same places.") var seed: UInt64 = 1
    @Option(help: "Event loops, 1...64.") var threads = 1
    @Option(help: "The only key that is let in. Default: all but those that begin with wrong, denied or legacy-off.")
    var apiKey: String?
    @Flag(help: "The APIs as they were years ago: numbers as strings, obsolete members.") var oldVersions = false
    @Flag(help: "Answers with gzip whoever accepts it.") var gzip = false
    @Option(help: "How long a page token of Google's legacy API is not valid yet.")
    var pageTokenDelay = DurationArgument(.seconds(2))
    @Option(help: "Megabytes for rendered places.") var cacheMegabytes = 96
    @Option(help: "Largest request body in bytes.") var maxRequestBytes = 1 << 20
    @Option(help: "Requests that GET /_sim/log can show.") var logCapacity = 1000
    @Option(help: "80ms, 20ms..80ms, exp:100ms (the mean) or p50:80ms,p99:900ms.") var latency = "0ms"
    @Option(help: "Shares of requests that fail, such as 503:0.05,reset:0.01.") var faults: String?
    @Option(help: "How many requests are served at a time; the others wait.") var capacity: Int?
    @Option(help: "Requests per second for each key.") var quota: Double?
    @Option(help: "Requests at once after a pause. Default: one second's worth.") var quotaBurst: Int?
    @Option(help: "Seconds that a rate-limited answer says to wait. Default: it does not say.") var retryAfter: Int?
    @Flag(help: "Prints the faults that a keyword, type or place id can ask for, and ends.") var listFaults = false

    func run() async throws {
        if listFaults { return print(FaultTable.text, terminator: "") }
        ignoreBrokenPipes()
        let server: SimulatorServer
        do {
            server = try SimulatorServer(try configuration())
        } catch let error as SimulatorError {
            throw ValidationError("\(error)")
        }
        do {
            Terminal.line(try await server.start())
        } catch {
            throw Failure(code: Failure.configuration, description: "cannot listen on \(host):\(port): \(error)")
        }
        await ProcessSetup.onFirstTermination()
        await server.shutdown()
    }

    func configuration() throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.seed = seed
        configuration.threads = threads
        configuration.apiKey = apiKey
        configuration.oldVersions = oldVersions
        configuration.gzip = gzip
        configuration.pageTokenDelay = pageTokenDelay.duration
        configuration.cacheBytes = cacheMegabytes << 20
        configuration.maxRequestBytes = maxRequestBytes
        configuration.logCapacity = logCapacity
        guard let latency = LatencyDistribution(latency) else {
            throw ValidationError("--latency takes 80ms, 20ms..80ms, exp:100ms or p50:80ms,p99:900ms")
        }
        configuration.profile.latency = latency
        if let faults {
            guard let shares = TrafficProfile.faults(faults) else {
                throw ValidationError("--faults takes NAME:SHARE, ...; --list-faults shows the names")
            }
            configuration.profile.faults = shares
        }
        if let capacity { configuration.profile.capacity = .init(concurrent: capacity) }
        if let quota {
            configuration.profile.quota = .init(requestsPerSecond: quota, burst: quotaBurst, retryAfter: retryAfter)
        }
        return configuration
    }
}
