extension Duration {
    /// Makes a duration of seconds, rounded up to whole nanoseconds so that a timer set with it never fires early. Values are
    /// kept between 0 and 100 years.
    package init(roundingUp seconds: Double) {
        let limit = 3_155_760_000.0
        let nanoseconds = (min(max(seconds, 0), limit) * 1e9).rounded(.up)
        self = .nanoseconds(Int64(saturating: nanoseconds))
    }
}
