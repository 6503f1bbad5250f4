import Kafka

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
        guard !consumer.losesPartitionsByCommits(with: .running) else {
            return [
                warning(
                    "\(versions): with cooperative-sticky, a commit in a rebalance costs a worker its partitions",
                    cure: "use librdkafka 2.10 or newer; or stop all workers, and remove partition.assignment.strategy")
            ]
        }
        return [ok("\(versions): accepts all properties")]
    }
}
