package import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes each line with one `write(2)` to standard error: lines of several threads never mix.
package struct LineLogHandler: LogHandler {
    package enum Format: String, Sendable {
        case json
        case text
    }

    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level
    private let label: String
    private let format: Format

    package init(label: String, format: Format, level: Logger.Level) {
        self.label = label
        self.format = format
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let own = event.metadata { all.merge(own) { _, own in own } }
        let pairs = all.sorted { $0.key < $1.key }
        let time = Self.timestamp()
        var line: String
        switch format {
        case .json:
            line = #"{"ts":"\#(time)","level":"\#(event.level)","message":\#(quoted("\(event.message)"))"#
            for (key, value) in pairs { line += ",\(quoted(key)):\(quoted("\(value)"))" }
            line += "}\n"
        case .text:
            line = "\(time) \(event.level) \(event.message)"
            for (key, value) in pairs { line += " \(key)=\(value)" }
            line += "\n"
        }
        var bytes = Array(SecretRegistry.shared.redacted(line).utf8)
        _ = unsafe write(2, &bytes, bytes.count)
    }

    /// RFC 3339 in UTC, with milliseconds.
    private static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var parts = unsafe tm()
        unsafe gmtime_r(&now.tv_sec, &parts)
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = unsafe "\(parts.tm_year + 1900)-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
        let time =
            unsafe "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
        return "\(date)T\(time).\(padded(now.tv_nsec / 1_000_000, 3))Z"
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case let control where control.value < 0x20:
                let hex = String(control.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
