import Foundation

/// Leaflet as the system has it installed: Debian's package libjs-leaflet, or the `dist` folder of its release.
enum LeafletFiles {
    /// The files that a page needs of it. Nothing else is read, whatever the folder holds.
    private static let names = [
        "leaflet.css", "images/layers.png", "images/layers-2x.png", "images/marker-icon.png",
        "images/marker-icon-2x.png", "images/marker-shadow.png",
    ]

    /// Returns the files that are there, by their names.
    static func read(from folder: String) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in names {
            files[name] = FileManager.default.contents(atPath: folder + "/" + name).map(Array.init)
        }
        // Debian has the script in both forms, a release only in the short one under the long one's name.
        let script = ["leaflet.min.js", "leaflet.js"].lazy.compactMap {
            FileManager.default.contents(atPath: folder + "/" + $0)
        }.first
        files["leaflet.js"] = script.map(Array.init)
        return files
    }
}
