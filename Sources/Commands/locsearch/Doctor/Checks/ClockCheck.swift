internal import Basics

/// Compares this machine's clock with those of providers. It determines ages, expiry times and budget days.
struct ClockCheck: DoctorCheck {
    static let name = "clock"

    /// Smaller differences than the first cannot be distinguished from network delay. With larger ones than the second,
    /// requests expire wrongly.
    private static let (noticed, harmful) = (Duration.seconds(5), Duration.seconds(60))

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        guard !examination.providerClocks.isEmpty else {
            throw SkippedCheck("no provider has sent its time", cure: "synchronize this machine's clock with NTP")
        }
        return examination.providerClocks.map { finding(of: $0.name, ahead: $0.ahead) }
    }

    private func finding(of name: String, ahead: Duration) -> Finding {
        let size = max(ahead, ahead * -1)  // bounded: milliseconds of 64 bits
        let text = "the clock of \(name) is \(size.readable) \(ahead < .zero ? "behind" : "ahead of") this machine's"
        let cure = "synchronize this machine's clock with NTP"
        if size >= Self.harmful { return failed(text, cure: cure) }
        return size >= Self.noticed ? warning(text, cure: cure) : ok("the clock agrees with that of \(name)")
    }
}
