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

/// Reports the version of librdkafka, and checks whether it accepts the properties derived from the settings.
struct LibraryCheck: DoctorCheck {
    static let name = "library"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let versions = "librdkafka \(LibraryVersion.running), locsearch \(Version.current)"
        guard let consumer = try? examination.consumer(), let producer = try? examination.settings.producer() else {
            throw SkippedCheck("\(versions): kafka.* was not tested with it")
        }

        var reasons: [String] = []
        do throws(KafkaError) { try consumer.check() } catch { reasons.append(error.description) }
        do throws(KafkaError) { try producer.check() } catch { reasons.append(error.description) }
        guard reasons.isEmpty else {
            return Set(reasons).sorted().map {
                failed($0, cure: "correct the setting, or remove it", code: Failure.configuration)
            }
        }
        return [ok("\(versions): accepts all properties")]
    }
}
