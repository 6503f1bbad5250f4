import ArgumentParser
import Basics
import EventContract
import Kafka

/// The target to which a group's offsets are moved.
enum OffsetTarget: Sendable, Hashable {
    case position(StartPosition)
    /// The oldest record that is at most this old when the command begins.
    case ago(Duration)
    case offset(Int64)

    /// Parses `earliest`, `latest`, an offset, an RFC 3339 time, or an age such as `2h`.
    /// - Throws: a usage error that describes these forms.
    static func read(_ text: String) throws -> OffsetTarget {
        if let position = StartPosition(text: text) { return .position(position) }
        if let duration = Duration(text: text) { return .ago(duration) }
        if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let offset = Int64(text) {
            return .offset(offset)
        }
        throw ValidationError(
            "--to takes earliest, latest, an offset such as 1200, a time with its zone such as 2026-11-21T09:30:00Z,"
                + " or a time ago such as 2h")
    }

    /// Returns the target time in milliseconds since the Unix epoch; `nil` if the target is not a time.
    func milliseconds(at now: WallTime) -> Int64? {
        switch self {
        case .position(.time(let milliseconds)): milliseconds
        case .ago(let duration): now.milliseconds.saturatingSubtracting(Int64(duration.milliseconds(roundedUp: false)))
        case .position, .offset: nil
        }
    }
}
