import ArgumentParser
import Basics
import Foundation

/// Parses the end of an order.
enum ControlTime {
    /// Reads the value of `--until`: a clock time such as `18:00`, or a full time such as `2026-11-25T18:00:00+09:00`.
    /// A clock time means its next occurrence in the local time zone.
    /// - Throws: a usage error that describes the formats.
    static func end(_ text: String, at now: Date, in zone: TimeZone = .current) throws -> Int64 {
        guard let date = clockTime(text, after: now, in: zone) ?? (try? Date(text, strategy: .iso8601)) else {
            throw ValidationError(
                "--until \(text) is not a time: expected 18:00 in local time, or 2026-11-25T18:00:00+09:00")
        }
        guard date > now else { throw ValidationError("--until \(text) is in the past") }
        return milliseconds(date)
    }

    static func end(after time: Duration, at now: Date) throws -> Int64 {
        guard time >= .seconds(1) else { throw ValidationError("--for takes at least 1s") }
        return milliseconds(now).saturatingAdding(Int64(time.milliseconds(roundedUp: true)))
    }

    private static func clockTime(_ text: String, after now: Date, in zone: TimeZone) -> Date? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }

        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar.nextDate(
            after: now, matching: DateComponents(hour: hour, minute: minute, second: 0), matchingPolicy: .nextTime)
    }

    static func milliseconds(_ date: Date) -> Int64 {
        // bounded: a product of floating-point numbers
        Int64(saturating: date.timeIntervalSince1970 * 1000)
    }
}
