import Foundation

/// The file in which a running demo says how to reach it, so that `search` and `watch` find it without settings.
///
/// It is one small file of the user's own: `$XDG_RUNTIME_DIR/locsearch/demo.json`, else
/// `~/.local/state/locsearch/demo.json`.
struct DemoState: Codable, Equatable {
    var bootstrapServers: String
    /// The admin endpoints of its first worker, which the console shows.
    var adminURL: String?
    /// Where its simulator serves pictures.
    var pictureURL: String?
    /// The number of the demo's process. A file whose process is gone counts for nothing.
    var pid: Int32

    /// The settings with which a tool reaches the demo.
    var settings: [String: String] {
        var settings = ["kafka.bootstrapServers": bootstrapServers]
        settings["console.workers"] = adminURL
        settings["console.pictureBaseURL"] = pictureURL
        return settings
    }

    /// Returns the path of the file; `nil` for a user without a home.
    static func location(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> URL? {
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            return URL(fileURLWithPath: folder + "/locsearch/demo.json")
        }

        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home + "/.local/state/locsearch/demo.json")
    }

    /// Returns the demo that runs now; `nil` when there is none.
    static func running(at location: URL? = location()) -> DemoState? {
        guard let location, let data = try? Data(contentsOf: location),
            let state = try? JSONDecoder().decode(DemoState.self, from: data), processIsAlive(state.pid)
        else { return nil }

        return state
    }

    /// Writes the file if that can be done. Without it, `search` needs the broker's address.
    func write(to location: URL? = location()) {
        guard let location, let data = try? JSONEncoder().encode(self) else { return }

        try? FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? data.write(to: location, options: .atomic)
    }

    /// Removes the file, unless another demo has taken it over.
    func remove(from location: URL? = location()) {
        guard let location, let data = try? Data(contentsOf: location),
            let state = try? JSONDecoder().decode(DemoState.self, from: data), state == self
        else { return }

        try? FileManager.default.removeItem(at: location)
    }
}
