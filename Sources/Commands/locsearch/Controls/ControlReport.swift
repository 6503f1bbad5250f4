import Basics
import Foundation
import JSON
import QuotaSharing
import WorkerRuntime

/// The orders in force and the workers that answered, as text and as JSON.
struct ControlReport {
    let orders: [ControlOrder]
    /// The workers that answered; `nil` if they were not asked.
    let workers: [ControlTopic.Worker]?

    init(_ book: ControlBook, workers: [ControlTopic.Worker]? = nil) {
        orders = book.orders
        self.workers = workers
    }

    // MARK: - Text output

    var text: [String] {
        let orders = orders.isEmpty ? ["no order is in force: workers use their settings"] : orderLines
        guard let workers else { return orders }
        return orders + [""] + (workers.isEmpty ? ["no worker responds"] : Self.lines(of: workers))
    }

    private var orderLines: [String] {
        var table = TextTable([
            .left("order", maxWidth: 60), .left("for", maxWidth: 80), .left("by", maxWidth: 60), "given", "until",
        ])
        for order in orders {
            table.add([
                order.words, order.workerText, order.by, Self.local(order.at),
                order.until.map { Self.local($0) } ?? "withdrawn",
            ])
        }
        return table.lines
    }

    private static func lines(of workers: [ControlTopic.Worker]) -> [String] {
        var table = TextTable([.left("worker", maxWidth: 80), "id of this run"])
        for worker in workers { table.add([worker.name, worker.instance]) }
        return table.lines
    }

    /// Formats a time in the local time zone: `2026-11-25 18:00:00 +09:00`.
    static func local(_ milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.formatted(
            Date.ISO8601FormatStyle(
                dateTimeSeparator: .space, timeZoneSeparator: .colon, timeZone: .current
            ).year().month().day().time(includingFractionalSeconds: false).timeZone(separator: .colon))
    }

    // MARK: - JSON output

    var json: String {
        JSONWriter.objectText(capacity: 1024) { json in
            json.objects("orders", of: orders) { order, json in
                order.writeMembers(to: &json)
            }
            json.objects("workers", of: workers ?? []) { worker, json in
                json.member("worker", worker.name)
                json.member("instance", worker.instance)
            }
        }
    }
}

/// The text forms of an order.
extension ControlOrder {
    /// The effect of the order, such as `hotpepper is paused` or `rate of hotpepper is 20 a second`.
    var words: String {
        let value = number.map(ControlPolicy.plain) ?? level ?? "-"
        let what =
            switch control {
            case .pauseProvider: "\(provider ?? "-") is paused"
            case .pauseIntake: "intake is paused"
            case .rate: "rate of \(provider ?? "-") is \(value) per second"
            case .concurrency: "concurrency is \(value)"
            case .logLevel: "log level is \(value)"
            case .drain: "drain"
            case .retry: "\(provider ?? "-") is called again"
            case nil: "\(name) \(provider ?? "") \(value)"
            }
        return what + (isForced ? " (forced)" : "") + (isTakenBack ? ": not for this worker" : "")
    }

    /// The order with its target, author and end, such as `intake is paused for the fleet, by mori@ops until 2026-11-25
    /// 18:00:00 +09:00`.
    var sentence: String {
        "\(words) for \(workerText), by \(by) until \(until.map { ControlReport.local($0) } ?? "it is withdrawn")"
    }

    var workerText: String { instance.map { "\(worker ?? "-") (\($0))" } ?? "the fleet" }
}
