internal import EventContract
public import QuotaSharing

/// The times of an order as logs and `/status` show them: RFC 3339 in UTC.
extension ControlOrder {
    public var atText: String { EventTime(milliseconds: at).description }
    /// `nil` for an order that lasts until it is revoked.
    public var untilText: String? { until.map { EventTime(milliseconds: $0).description } }
    /// The sender of the order and its end: `by mori@ops until 2026-11-25T18:00:00.000Z`.
    public var origin: String { "by \(by) until \(untilText ?? "it is taken back")" }
}
