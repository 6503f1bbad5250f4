import Kafka
import WorkerRuntime

/// Checks whether the library and the brokers together support all configured features.
struct VersionsCheck: DoctorCheck {
    static let name = "versions"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let consumer = try examination.consumer()
        let settings = examination.settings
        let needs = VersionNeeds(
            mechanism: settings.loginMechanism,
            sharesByBroker: consumer.groupProtocol == .consumer || consumer.properties["group.protocol"] == "consumer",
            transactions: settings.worker().delivery == .exactlyOnce)
        let requests = examination.requestLog.requests
        let limits = LibraryVersion.running.limits(of: needs, with: requests)
        guard limits.isEmpty else {
            return limits.map { $0.isFatal ? failed($0.text, cure: $0.cure) : warning($0.text, cure: $0.cure) }
        }

        guard let requests else { throw SkippedCheck("no broker has reported its API versions") }
        return [
            ok("the brokers are like \(requests.likeness), and compatible with librdkafka \(LibraryVersion.running)")
        ]
    }
}
