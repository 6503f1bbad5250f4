internal import Basics
import EventLoop
import Foundation
import HTTPTransport
import LibC

/// A `locsearch worker` in a child process, which can be killed and started again. It runs next to the demo's other
/// workers, and ends with the demo.
actor WorkerChild {
    /// How long the worker may take to print the address of its admin endpoints.
    private static let timeToStart = Duration.seconds(20)
    /// The breaker reasons for which a provider stays disabled until its key is renewed.
    private static let reasonsOfKeys: Set = ["key-refused", "quota-used-up"]
    /// How long the worker may take to finish its requests at the end of the demo.
    private static let timeToEnd = Duration.seconds(10)

    /// The URL of its admin endpoints. It stays the same after a restart.
    nonisolated let url: String

    private let arguments: [String]
    private let environment: [String: String]
    private let keyFile: DemoKeyFile
    private var process: ChildProcess
    private let loop: EventLoop
    /// Used to request the worker's status.
    private let http: HTTPTransport

    /// Returns once the worker serves its admin endpoints.
    /// - Throws: `Failure` if it does not start in time.
    init(_ settings: Settings) async throws {
        keyFile = try DemoKeyFile(settings)
        guard let program = Bundle.main.executablePath else {
            throw Failure("the demo's second worker: the program file was not found")
        }
        arguments = [program, "worker", "--ends-with-input"]
        let environment = Self.environment(settings, keyFile: keyFile)

        let process = try Self.start(arguments, environment.merging(["ADMIN_PORT": "0"]) { $1 })
        _ = await ChildProcess.holds(within: Self.timeToStart) { process.firstLine != nil || !process.isRunning }
        guard let line = process.firstLine, line.hasPrefix("admin "), let port = line.split(separator: ":").last else {
            process.signal(SIGKILL)
            throw Failure("the demo's second worker did not start")
        }
        self.process = process
        loop = try EventLoop()
        http = HTTPTransport(loop: loop, configuration: HTTPConfiguration())
        self.environment = environment.merging(["ADMIN_PORT": String(port)]) { $1 }
        url = String(line.dropFirst("admin ".count))
    }

    var isRunning: Bool { process.isRunning }

    /// Returns whether the worker has partitions of the request topics.
    func hasPartitions() async -> Bool { await status()?.assignment.isEmpty == false }

    /// Waits until no provider is disabled because of its key or the key's quota, up to a limit.
    func waitUntilKeysAreTried() async {
        _ = await ChildProcess.holds(within: Self.timeToStart) {
            guard isRunning, let status = await status() else { return !isRunning }
            return !status.providers.contains { provider in
                provider.breaker == "open" && Self.reasonsOfKeys.contains(provider.breakerReason ?? "")
            }
        }
    }

    /// The members of `/status` that the demo uses.
    private struct Status: Decodable {
        struct Partition: Decodable {}
        struct Provider: Decodable {
            let breaker: String
            let breakerReason: String?
        }

        let assignment: [Partition]
        let providers: [Provider]
    }

    /// - Returns: `nil` if the worker does not answer in time.
    private func status() async -> Status? {
        guard let answer = try? await http.send(HTTPRequest(url: url + "/status"), before: .now + .seconds(2)) else {
            return nil
        }
        return try? JSONDecoder().decode(Status.self, from: Data(answer.body))
    }

    /// Ends the worker like a crash. Returns once its process has ended.
    func kill() async {
        process.signal(SIGKILL)
        _ = await process.hasEnded(within: Self.timeToEnd)
    }

    /// Starts the worker again, unless it is running.
    /// - Throws: `Failure` if it cannot be started.
    func start() throws {
        guard !process.isRunning else { return }
        process = try Self.start(arguments, environment)
    }

    /// Gives the worker a new Google key, as an operator does by replacing the key file.
    func renewKey() { keyFile.renew() }

    /// Drains the worker, and returns once its process has ended.
    func stop() async {
        process.signal(SIGTERM)
        if await !process.hasEnded(within: Self.timeToEnd) { await kill() }
        keyFile.remove()
        await http.shutdown()
        loop.stop()
    }

    // MARK: - Process

    private static func start(_ arguments: [String], _ environment: [String: String]) throws -> ChildProcess {
        do {
            return try ChildProcess(arguments, environment: environment)
        } catch {
            throw Failure("the demo's second worker cannot be started: \(error)")
        }
    }

    /// Returns this process's environment with the demo's settings added, whatever source they came from.
    static func environment(
        _ settings: Settings, keyFile: DemoKeyFile, own: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        var environment = own
        environment[SettingsReading.fileVariable] = nil
        for setting in Setting.accepted {
            environment[setting.environmentName] = settings.isDefault(setting.name) ? nil : settings[setting.name]
        }
        environment["ADMIN_HOST"] = "127.0.0.1"
        // The admin endpoints of the first worker require no token either.
        environment["ADMIN_TOKEN"] = nil
        environment["ADMIN_TOKEN_FILE"] = nil
        environment["GOOGLE_PLACES_API_KEY"] = nil
        environment["GOOGLE_PLACES_API_KEY_FILE"] = keyFile.path
        return environment
    }
}

/// The file from which the demo's child worker reads its Google key.
struct DemoKeyFile: Sendable {
    let path: String
    private let key: String

    /// Writes the key from the demo's settings.
    init(_ settings: Settings) throws {
        key = try settings.googleKey() ?? ""
        let folder = FileManager.default.temporaryDirectory
        path = folder.appending(path: "locsearch-demo-\(ownProcessID)-google.key").path
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(key.utf8), attributes: [.posixPermissions: 0o600])
        else { throw Failure("the demo cannot write \(path)") }
    }

    /// Writes another key. A key that the user gave to the demo is not replaced.
    func renew() {
        guard key == DemoState.key else { return }
        let number = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        try? Data("\(key)-\(number)".utf8).write(to: URL(fileURLWithPath: path))
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
