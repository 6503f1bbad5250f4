import Foundation
import LibC

/// The file that contains the addresses of a running demo, so that `search` and `watch` find it without settings.
///
/// Each demo writes its own small file, `demo-PID.json`, to `$XDG_RUNTIME_DIR/locsearch` or, if that is not set, to
/// `~/.local/state/locsearch`. Several demos may therefore run at the same time, and each is found while it runs.
struct DemoState: Codable, Equatable {
    var bootstrapServers: String
    /// The URL of the first worker's admin endpoints, which the console shows.
    var adminURL: String?
    /// The URL of the admin endpoints of the worker in a child process, which the console also shows.
    var childURL: String?
    /// The base URL of the simulator's pictures.
    var pictureURL: String?
    var providerURL: String?
    /// The process id of the demo. A file is ignored if its process has ended.
    var pid: Int32
    /// The start time, in milliseconds since 1970.
    var started: Int64 = 0

    /// The settings with which a tool connects to the demo.
    var settings: [String: String] {
        var settings = ["kafka.bootstrapServers": bootstrapServers]
        let workers = [adminURL, childURL].compactMap { $0 }
        if !workers.isEmpty { settings["console.workers"] = workers.joined(separator: ",") }
        settings["console.pictureBaseURL"] = pictureURL
        return settings
    }

    var workerSettings: [String: String] {
        var settings = settings
        if let providerURL { settings.merge(Self.providerSettings(url: providerURL)) { $1 } }
        return settings
    }

    /// The providers' key, unless the user sets another one.
    static let key = "demo-key"

    /// The settings with which a worker uses only the demo's providers.
    static func providerSettings(url: String) -> [String: String] {
        [
            "hotpepper.baseURL": url, "googlePlaces.baseURL": url, "googlePlacesLegacy.baseURL": url,
            "hotpepper.apiKey": key, "googlePlaces.apiKey": key, "http.noProxy": "127.0.0.1",
        ]
    }

    /// Returns the folder of the files; `nil` if the user has no home folder.
    static func folder(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> URL? {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            return URL(fileURLWithPath: folder + "/locsearch")
        }

        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home + "/.local/state/locsearch")
    }

    private var fileName: String { "demo-\(pid).json" }

    /// Returns the demos that are running, most recently started first.
    static func running(in folder: URL? = folder()) -> [DemoState] {
        files(in: folder).compactMap(\.state).filter { processIsAlive($0.pid) }
            .sorted { ($0.started, $0.pid) > ($1.started, $1.pid) }
    }

    private static func files(in folder: URL?) -> [(file: URL, state: DemoState?)] {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            return []
        }

        return names.filter { $0.hasPrefix("demo-") && $0.hasSuffix(".json") }.map { name in
            let file = folder.appending(path: name)
            let data = try? Data(contentsOf: file)
            return (file, data.flatMap { try? JSONDecoder().decode(DemoState.self, from: $0) })
        }
    }

    /// Writes the file if possible, and removes the files of demos that were killed. Without a file, `search` needs the
    /// broker's address.
    func write(in folder: URL? = folder()) {
        guard let folder, let data = try? JSONEncoder().encode(self) else { return }

        for (file, state) in Self.files(in: folder) where !(state.map { processIsAlive($0.pid) } ?? false) {
            try? FileManager.default.removeItem(at: file)
        }
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? data.write(to: folder.appending(path: fileName), options: .atomic)
    }

    /// Removes this demo's file.
    func remove(from folder: URL? = folder()) {
        guard let folder else { return }
        try? FileManager.default.removeItem(at: folder.appending(path: fileName))
    }
}

/// Returns true while a process with this id exists, whichever user owns it.
private func processIsAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) }

/// The id of this process.
var ownProcessID: Int32 { getpid() }
