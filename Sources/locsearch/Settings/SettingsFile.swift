import Configuration
import Foundation
import Synchronization
import SystemPackage

/// A settings file: JSON or YAML by its ending. Names are nested (`worker: {concurrency: 64}`) or written out
/// (`worker.concurrency: 64`); `kafka.properties` may be one text or a mapping.
struct SettingsFile: Sendable {
    let provider: any ConfigProvider
    /// librdkafka's properties that stand below `kafka.properties`.
    let propertyNames: [String]

    private static let propertyPrefix = "kafka.properties."

    /// - Throws: `SettingsError` when it cannot be read, or for the first name that is no setting.
    static func load(_ path: String) async throws(SettingsError) -> SettingsFile {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw SettingsError("the settings file \(path) cannot be read")
        }
        let names = Names()
        let provider: any ConfigProvider
        do {
            if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
                // Asked about every value in the file: the way to learn all names, unknown ones too.
                let options = YAMLSnapshot.ParsingOptions(secretsSpecifier: .dynamic { name, _ in names.note(name) })
                provider = try await FileProvider<YAMLSnapshot>(parsingOptions: options, filePath: FilePath(path))
            } else {
                let options = JSONSnapshot.ParsingOptions(secretsSpecifier: .dynamic { name, _ in names.note(name) })
                provider = try await FileProvider<JSONSnapshot>(parsingOptions: options, filePath: FilePath(path))
            }
        } catch {
            throw SettingsError("the settings file \(path) is not valid: expected one JSON or YAML object of settings")
        }
        var properties: [String] = []
        for name in names.all.sorted() where Setting.byName[name] == nil {
            guard name.hasPrefix(propertyPrefix), name.count > propertyPrefix.count else {
                throw .unknown(name, "in \(path)")
            }
            properties.append(String(name.dropFirst(propertyPrefix.count)))
        }
        return SettingsFile(provider: provider, propertyNames: properties)
    }

    /// The file's names, in no order.
    private final class Names: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }

        /// - Returns: whether the value is secret.
        func note(_ name: String) -> Bool {
            names.withLock { $0.append(name) }
            return Setting.byName[name]?.isSecret ?? false
        }
    }

    /// A setting's value as text; numbers, flags and lists may stand as such.
    func text(of setting: Setting) throws(SettingsError) -> String? {
        if case .properties = setting.kind, !propertyNames.isEmpty {
            return propertyNames.map { name in
                "\(name)=\(Self.text(at: ["kafka", "properties", name], in: provider) ?? "")"
            }.joined(separator: ",")
        }
        return Self.text(of: setting, in: provider)
    }

    static func text(of setting: Setting, in provider: any ConfigProvider) -> String? {
        let components = setting.name.split(separator: ".").map(String.init)
        if case .flag = setting.kind, let found = value(at: components, .bool, in: provider) { return found }
        return text(at: components, in: provider)
    }

    private static func text(at components: [String], in provider: any ConfigProvider) -> String? {
        for type in [ConfigType.string, .int, .double, .bool, .stringArray] {
            if let found = value(at: components, type, in: provider) { return found.isEmpty ? nil : found }
        }
        return nil
    }

    private static func value(at components: [String], _ type: ConfigType, in provider: any ConfigProvider) -> String? {
        guard let found = try? provider.value(forKey: AbsoluteConfigKey(components), type: type).value else {
            return nil
        }
        return switch found.content {
        case .string(let text): text
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .stringArray(let texts): texts.joined(separator: ",")
        default: nil
        }
    }
}

extension SettingsError {
    /// - Parameter origin: where the name stood, such as `in settings.yaml`.
    static func unknown(_ name: String, _ origin: String) -> SettingsError {
        let meant = Misspelling.meant(by: name, among: Setting.all.map(\.name))
        return SettingsError(
            "\(name) \(origin) is no setting"
                + (meant.map { ": did you mean \($0)?" } ?? "; `locsearch config` lists all there are"))
    }
}
