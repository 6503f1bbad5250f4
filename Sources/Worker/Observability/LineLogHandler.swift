internal import Basics
internal import JSON
package import Logging
internal import Synchronization

/// Writes log lines to standard error. Lines of different threads never mix, and no caller waits for a slow reader (see
/// `LineOutput`). Secrets in `SecretRegistry.shared` are redacted.
package struct LineLogHandler: LogHandler {
    package enum Format: String, Sendable {
        /// `{"ts":...,"level":...,"message":...,"metadata":{...}}`, one object per line.
        case json
        /// Human-readable lines, in colour on a terminal.
        case text
    }

    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    /// The level of this handler, which `setLevelForAll` overrides.
    private var ownLevel: Logger.Level
    private let label: String
    private let format: Format
    private let output: LineOutput

    package init(label: String, format: Format, level: Logger.Level) {
        self.init(label: label, format: format, level: level, output: .standardError)
    }

    init(label: String, format: Format, level: Logger.Level, output: LineOutput) {
        (self.label, self.format, self.output) = (label, format, output)
        ownLevel = level
    }

    // MARK: - Level

    package var logLevel: Logger.Level {
        get {
            let index = Self.levelForAll.load(ordering: .relaxed)
            return index < 0 ? ownLevel : Logger.Level.allCases[index]
        }
        set { ownLevel = newValue }
    }

    /// The index of the level that overrides the level of all handlers in the process; -1: none.
    private static let levelForAll = Atomic<Int>(-1)

    /// Overrides the level of all handlers in the process, including existing ones.
    /// - Parameter level: `nil` restores each handler's level.
    package static func setLevelForAll(_ level: Logger.Level?) {
        levelForAll.store(level.flatMap { Logger.Level.allCases.firstIndex(of: $0) } ?? -1, ordering: .relaxed)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, provided in provided } }
        if let own = event.metadata { all.merge(own) { _, own in own } }
        let pairs = all.sorted { $0.key < $1.key }

        let (format, isTerminal) = (format, output.isTerminal)
        output.write(
            Self.line(format, level: event.level, message: "\(event.message)", metadata: pairs, inColour: isTerminal),
            inPlaceOfDropped: { count in
                Self.line(
                    format, level: .warning, message: "log lines were dropped because their reader was too slow",
                    metadata: [(key: "lines", value: "\(count)")], inColour: isTerminal)
            })
    }

    private static func line(
        _ format: Format, level: Logger.Level, message: String,
        metadata: [(key: String, value: Logger.MetadataValue)], inColour: Bool
    ) -> String {
        switch format {
        case .json: json(level, message: message, metadata: metadata)
        case .text: text(level, message: message, metadata: metadata, inColour: inColour)
        }
    }

    private static func json(
        _ level: Logger.Level, message: String, metadata: [(key: String, value: Logger.MetadataValue)]
    ) -> String {
        JSONWriter.objectText(capacity: 512) { json in
            json.member("ts", "\(WallTime.now())")
            json.member("level", level.rawValue)
            json.member("message", redacted(message))
            guard !metadata.isEmpty else { return }
            json.key("metadata")
            write(metadata, to: &json)
        } + "\n"
    }

    private static func write(_ members: [(key: String, value: Logger.MetadataValue)], to json: inout JSONWriter) {
        json.object { json in
            for (name, value) in members {
                json.key(redacted(name))
                write(value, to: &json)
            }
        }
    }

    private static func write(_ value: Logger.MetadataValue, to json: inout JSONWriter) {
        switch value {
        case .string(let text): json.value(redacted(text))
        case .stringConvertible(let value): json.value(redacted("\(value)"))
        case .array(let values):
            json.beginArray()
            for value in values { write(value, to: &json) }
            json.endArray()
        case .dictionary(let members):
            write(members.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }, to: &json)
        }
    }

    /// Redacts secrets before the text is escaped, because an escaped secret would not be recognised.
    private static func redacted(_ text: String) -> String { SecretRegistry.shared.redacted(text) }

    private static func text(
        _ level: Logger.Level, message: String, metadata: [(key: String, value: Logger.MetadataValue)],
        inColour: Bool
    ) -> String {
        let (begin, end) = inColour ? (colour(of: level), "\u{1B}[0m") : ("", "")
        var line = "\(WallTime.now()) \(begin)\(level)\(end) \(plain(message))"
        for (key, value) in metadata { line += " \(key)=\(plain("\(value)"))" }
        return line + "\n"
    }

    private static func colour(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "\u{1B}[2m"
        case .info, .notice: "\u{1B}[32m"
        case .warning: "\u{1B}[33m"
        case .error, .critical: "\u{1B}[31m"
        }
    }

    /// Redacts secrets, and replaces control characters by spaces. Untrusted text thus cannot start a new line or
    /// control a terminal.
    private static func plain(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in redacted(text).unicodeScalars {
            result.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(result)
    }
}
