extension Duration {
    /// The duration in seconds, exact to about 16 digits, for arithmetic with rates and shares.
    var inSeconds: Double {
        // Not by way of `attoseconds`: the standard library converts an `Int128` bit by bit.
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// Makes a duration of seconds, rounded up to whole nanoseconds so that a timer set with it never fires early. Values are
    /// kept between 0 and 100 years.
    init(roundingUp seconds: Double) {
        let limit = 3_155_760_000.0
        let nanoseconds = (min(max(seconds, 0), limit) * 1e9).rounded(.up)
        self = .nanoseconds(nanoseconds.isNaN ? 0 : Int64(nanoseconds))
    }
}
