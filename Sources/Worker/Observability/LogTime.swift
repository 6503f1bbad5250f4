internal import Basics
internal import LibC

/// The wall clock in the format of log lines.
enum LogTime {
    /// RFC 3339 in UTC, with milliseconds.
    static func now() -> String {
        let (whole, milliseconds) = SystemClock.wallTime.milliseconds.quotientAndRemainder(dividingBy: 1000)
        var parts = unsafe tm()
        var seconds = time_t(whole)
        unsafe gmtime_r(&seconds, &parts)
        let date = unsafe "\(parts.tm_year + 1900)-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
        let time =
            unsafe "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
        return "\(date)T\(time).\(padded(Int(milliseconds), 3))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
