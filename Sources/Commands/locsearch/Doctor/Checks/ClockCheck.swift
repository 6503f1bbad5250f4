internal import Basics
import Kafka

/// Compares this machine's clock with those of brokers and providers. It determines ages, expiry times and budget days.
struct ClockCheck: DoctorCheck {
    static let name = "clock"

    /// Smaller differences than the first cannot be distinguished from network delay. With larger ones than the second,
    /// requests expire wrongly.
    private static let (noticed, harmful) = (Duration.seconds(5), Duration.seconds(60))

    func findings(_ examination: inout Examination) async -> [Finding] {
        examination.providerClocks.map { finding(of: $0.name, ahead: $0.ahead) } + [await brokers(examination)]
    }

    private func finding(of name: String, ahead: Duration) -> Finding {
        let size = max(ahead, ahead * -1)  // bounded: milliseconds of 64 bits
        let text = "the clock of \(name) is \(size.readable) \(ahead < .zero ? "behind" : "ahead of") this machine's"
        let cure = "synchronize this machine's clock with NTP"
        if size >= Self.harmful { return failed(text, cure: cure) }
        return size >= Self.noticed ? warning(text, cure: cure) : ok("the clock agrees with that of \(name)")
    }

    /// Brokers reveal their time only in records of topics with LogAppendTime. The newest of those records may be old,
    /// so only a broker clock that is ahead can be detected.
    private func brokers(_ examination: Examination) async -> Finding {
        guard let cluster = examination.cluster, let consumer = examination.consumer else {
            return skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)
        }
        let timed = examination.topicConfigurations.filter { $0.value["message.timestamp.type"] == "LogAppendTime" }
        let untold = unknown(
            "the brokers' clocks: only records of topics with LogAppendTime show them",
            cure: "synchronize the brokers' clocks with NTP too")
        guard let topic = timed.keys.filter({ cluster.topics[$0] != nil }).min() else { return untold }

        do throws(KafkaError) {
            let reader = try TopicReader(consumer, log: examination.log)
            try await reader.open([topic], at: .newest(1), within: examination.timeout)
            let records = try await reader.records(max: 100, within: min(examination.timeout, .seconds(2)))
            let times = records.compactMap(\.timestamp)
            guard let newest = times.max() else { return untold }

            let ahead = Duration.milliseconds(newest.saturatingSubtracting(WallTime.now().milliseconds))
            if ahead >= Self.noticed { return finding(of: "the brokers", ahead: ahead) }
            return ok("the brokers' clocks are not ahead: the newest record of \(topic) is in the past")
        } catch {
            return unknown("the brokers' clocks: \(topic) cannot be read (\(error))", cure: Examination.brokersFirst)
        }
    }
}
