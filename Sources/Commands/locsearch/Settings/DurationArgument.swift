import ArgumentParser

/// A time as the value of an option, written as settings have it: `250ms`, `5s`, `2m`.
///
/// Options take it with `transform: DurationArgument.read`, whose error says what is wrong. ArgumentParser's own error would
/// only repeat the value.
struct DurationArgument: CustomStringConvertible {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    /// Reads the value of an option.
    /// - Throws: a usage error that says how times are written.
    static func read(_ text: String) throws -> DurationArgument {
        guard let duration = Duration(text: text) else {
            throw ValidationError(Duration.fault(of: text))
        }
        return DurationArgument(duration)
    }

    var description: String { duration.text }
}

extension Duration {
    /// Returns what is wrong with a text that is no time.
    static func fault(of text: String) -> String {
        Double(text) == nil
            ? "a time is written like 250ms, 5s or 2m"
            : "the unit is missing: write \(text)s for seconds, or \(text)ms, \(text)m, \(text)h"
    }
}
