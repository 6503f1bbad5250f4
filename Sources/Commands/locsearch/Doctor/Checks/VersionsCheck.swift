import Kafka
import WorkerRuntime

/// Checks whether the library and the brokers together support all configured features.
struct VersionsCheck: DoctorCheck {
    static let name = "versions"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let consumer = examination.consumer else {
            return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)]
        }

        let settings = examination.settings
        let needs = VersionNeeds(
            mechanism: settings.loginMechanism,
            sharesByBroker: consumer.groupProtocol == .consumer || consumer.properties["group.protocol"] == "consumer",
            transactions: settings.worker().delivery == .exactlyOnce)
        let limits = LibraryVersion.running.limits(of: needs, with: examination.requests)
        guard limits.isEmpty else {
            return limits.map { $0.isFatal ? failed($0.text, cure: $0.cure) : warning($0.text, cure: $0.cure) }
        }

        guard let requests = examination.requests else {
            return [
                skipped(
                    examination.reasonWithoutBrokers ?? "no broker reports its API versions",
                    cure: Examination.brokersFirst)
            ]
        }
        return [
            ok("the brokers are like \(requests.likeness), and compatible with librdkafka \(LibraryVersion.running)")
        ]
    }
}
