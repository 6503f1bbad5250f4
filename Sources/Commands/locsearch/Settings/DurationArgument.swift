import ArgumentParser

/// A duration as the value of an option, in the notation of settings: `250ms`, `5s`, `2m`.
///
/// Options use it with `transform: DurationArgument.read`, whose error describes the notation. ArgumentParser's own
/// error would only repeat the value.
struct DurationArgument: CustomStringConvertible {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    /// Parses the value of an option.
    /// - Throws: a usage error that describes the notation.
    static func read(_ text: String) throws -> DurationArgument {
        guard let duration = Duration(text: text) else {
            throw ValidationError(Duration.fault(of: text))
        }
        return DurationArgument(duration)
    }

    var description: String { duration.text }
}

extension Duration {
    /// Returns what is wrong with a text that is not a duration.
    static func fault(of text: String) -> String {
        Double(text) == nil
            ? "expected a time such as 250ms, 5s or 2m"
            : "the unit is missing: write \(text)s for seconds, or \(text)ms, \(text)m, \(text)h"
    }
}
