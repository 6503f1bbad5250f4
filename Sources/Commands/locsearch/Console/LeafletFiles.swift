import Foundation

/// Reads the Leaflet files installed on this system: Debian's package libjs-leaflet, or the `dist` folder of a release.
enum LeafletFiles {
    /// The files that the page needs. No other file in the folder is read.
    private static let names = [
        "leaflet.css", "images/layers.png", "images/layers-2x.png", "images/marker-icon.png",
        "images/marker-icon-2x.png", "images/marker-shadow.png",
    ]

    /// Returns the files that exist, by name.
    static func read(from folder: String) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in names {
            files[name] = FileManager.default.contents(atPath: folder + "/" + name).map(Array.init)
        }
        // Debian installs both forms of the script. A release has only the minified one, named `leaflet.js`.
        let script = ["leaflet.min.js", "leaflet.js"].lazy.compactMap {
            FileManager.default.contents(atPath: folder + "/" + $0)
        }.first
        files["leaflet.js"] = script.map(Array.init)
        return files
    }
}
