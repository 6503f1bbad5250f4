import JSON
import Observability
import QuotaSharing
import WorkerRuntime

/// The control orders of this process in `/status` and `/metrics`.
extension ControlStatus {
    /// Writes the members of the object `controls`.
    func write(to json: inout JSONWriter) {
        json.member("instance", instance)
        json.member("known", isKnown)
        json.objects("orders", of: entries) { entry, json in
            entry.order.writeMembers(to: &json)
            json.member("refusal", entry.refusal)
        }
    }
}

extension ControlOrder {
    /// Writes an order in the format of `/status` and `locsearch controls --json`.
    func writeMembers(to json: inout JSONWriter) {
        json.member("control", name)
        json.member("provider", provider)
        json.member("value", number)
        json.member("level", level)
        json.member("scope", instance == nil ? "fleet" : "worker")
        json.member("worker", worker)
        if isTakenBack { json.member("isTakenBack", true) }
        json.member("by", by)
        json.member("at", atText)
        json.member("until", untilText)
    }
}

extension WorkerStatus {
    /// Returns one series for each order that the process has applied.
    static func controlMetrics(_ controls: ControlStatus) -> String {
        let taken = controls.entries.filter { $0.refusal == nil }.map(\.order)
        return PrometheusText.family(
            "locsearch_control_active",
            taken.map { order in
                (
                    labels: [
                        ("control", order.name), ("provider", order.provider ?? ""),
                        ("scope", order.instance == nil ? "fleet" : "worker"),
                    ], value: 1
                )
            })
    }
}
