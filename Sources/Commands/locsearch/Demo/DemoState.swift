import Foundation

/// The file in which a running demo says how to reach it, so that `search` and `watch` find it without settings.
///
/// Each demo has a small file of its own, `demo-PID.json`, in `$XDG_RUNTIME_DIR/locsearch`, else in
/// `~/.local/state/locsearch`. So several may run side by side, and each is found for as long as it runs.
struct DemoState: Codable, Equatable {
    var bootstrapServers: String
    /// The admin endpoints of its first worker, which the console shows.
    var adminURL: String?
    /// The admin endpoints of a worker of its that is a process of its own, which the console shows too.
    var childURL: String?
    /// The URL at which its simulator serves pictures.
    var pictureURL: String?
    var providerURL: String?
    /// The number of the demo's process. A file whose process is gone counts for nothing.
    var pid: Int32
    /// The time of its start, in milliseconds since 1970.
    var started: Int64 = 0

    /// The settings with which a tool reaches the demo.
    var settings: [String: String] {
        var settings = ["kafka.bootstrapServers": bootstrapServers]
        let workers = [adminURL, childURL].compactMap { $0 }
        if !workers.isEmpty { settings["console.workers"] = workers.joined(separator: ",") }
        settings["console.pictureBaseURL"] = pictureURL
        return settings
    }

    /// The settings with which a worker would join the demo.
    var workerSettings: [String: String] {
        var settings = settings
        if let providerURL { settings.merge(DemoHouse.providerSettings(url: providerURL)) { $1 } }
        return settings
    }

    /// Returns the folder of the files; `nil` for a user without a home.
    static func folder(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> URL? {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            return URL(fileURLWithPath: folder + "/locsearch")
        }

        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home + "/.local/state/locsearch")
    }

    private var fileName: String { "demo-\(pid).json" }

    /// Returns the demos that run now, the one that was started last first.
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

    /// Writes the file if that can be done, and removes those of demos that were killed. Without a file, `search` needs the
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
