import ArgumentParser
import ProviderSimulator

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Runs the provider simulator: all three APIs on loopback.",
        discussion: """
            Prints its base URL on its first line and runs until SIGTERM. Point the worker's three base URLs there:

              locsearch simulate --port 8090 --latency p50:80ms,p99:900ms --faults 503:0.02,reset:0.01
              HOTPEPPER_BASE_URL=http://127.0.0.1:8090 HOTPEPPER_API_KEY=any locsearch worker

            It answers the calls that a worker makes. GET /_sim/stats shows the counts of requests and billed SKUs, POST /_sim/config
            changes latency, faults and capacity, POST /_sim/reset clears the counts. `--list-faults` lists the faults
            that a keyword fault:NAME causes.
            GET /pictures/ANY/PATH returns a generated picture (SVG), always the same for a path; it is not counted.
            """)

    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0: any free one.") var port = 0
    @Option(help: "Seed of the generated places: the same seed gives the same places.") var seed: UInt64 = 1
    @Option(help: "The only accepted key. Default: all except those that begin with wrong, denied or legacy-off.")
    var apiKey: String?
    @Option(help: "Time until a new page token of Google's legacy API becomes valid.", transform: DurationArgument.read)
    var pageTokenDelay = DurationArgument(.seconds(2))
    @Option(help: "Time until an answer begins: \(LatencyDistribution.expectation).") var latency = "0ms"
    @Option(help: "Fractions of requests that fail, such as 503:0.05,reset:0.01.") var faults: String?
    @Option(help: "Number of requests served at a time; the others wait.") var capacity: Int?
    @Flag(help: "Prints the faults that a keyword, type or place id can cause, and exits.") var listFaults = false

    func run() async throws {
        if listFaults { return Terminal.write(FaultTable.text) }

        ignoreBrokenPipes()
        let server = try await start(try configuration())
        // A caller may send SIGTERM as soon as it reads this line.
        let termination = await ProcessSetup.trapTermination()
        Terminal.line(server.baseURL)
        await termination()
        await server.shutdown()
    }

    private func start(_ configuration: SimulatorConfiguration) async throws -> SimulatorServer {
        do throws(SimulatorError) {
            return try await SimulatorServer.start(configuration)
        } catch {
            switch error {
            case .invalidConfiguration(let member, let expected):
                throw ValidationError("\(Self.flags[member] ?? member) takes \(expected)")
            case .cannotListen:
                let cure = "use --port 0 for any free port, or --host for another address"
                throw Failure("\(error); \(cure)", code: Failure.configuration)
            }
        }
    }

    /// The flag for each configuration member that the simulator itself checks.
    private static let flags = [
        "port": "--port", "apiKey": "--api-key", "pageTokenDelay": "--page-token-delay", "latency": "--latency",
        "faults": "--faults", "capacity": "--capacity",
    ]

    private func configuration() throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.seed = seed
        configuration.apiKey = apiKey
        configuration.pageTokenDelay = pageTokenDelay.duration
        configuration.profile = try profile()
        return configuration
    }

    /// How the simulator treats requests: latency, faults and capacity.
    private func profile() throws -> TrafficProfile {
        var profile = TrafficProfile()

        guard let latency = LatencyDistribution(latency) else {
            throw ValidationError("--latency takes \(LatencyDistribution.expectation)")
        }
        profile.latency = latency

        if let faults {
            guard let shares = TrafficProfile.faults(faults) else {
                throw ValidationError("--faults takes NAME:SHARE, ...; --list-faults shows the names")
            }
            profile.faults = shares
        }

        profile.capacity = capacity
        return profile
    }
}
