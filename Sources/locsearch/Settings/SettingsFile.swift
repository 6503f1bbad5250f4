import Configuration
import Foundation
import SystemPackage

/// A settings file: JSON or YAML by its ending, names nested (`worker: {concurrency: 64}`).
enum SettingsFile {
    static func load(_ path: String) async throws -> any ConfigProvider {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("the settings file \(path) cannot be read")
        }
        do {
            if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
                return try await FileProvider<YAMLSnapshot>(filePath: FilePath(path))
            }
            try refuseUnknown(in: JSONSerialization.jsonObject(with: data), at: "")
            return try await FileProvider<JSONSnapshot>(filePath: FilePath(path))
        } catch let error as SettingsError {
            throw error
        } catch {
            throw SettingsError("the settings file \(path) is not valid: expected one JSON or YAML object")
        }
    }

    private static func refuseUnknown(in value: Any, at path: String) throws(SettingsError) {
        guard let object = value as? [String: Any] else {
            let known = Setting.all.contains { $0.name == path }
            if !known { throw SettingsError("\(path.isEmpty ? "the settings file" : path) is no setting") }
            return
        }
        for (name, member) in object.sorted(by: { $0.key < $1.key }) {
            try refuseUnknown(in: member, at: path.isEmpty ? name : "\(path).\(name)")
        }
    }
}
