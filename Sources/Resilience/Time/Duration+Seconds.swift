extension Duration {
    /// For arithmetic with rates and shares; exact to about 16 digits.
    var inSeconds: Double {
        // Not by way of `attoseconds`: the standard library converts an `Int128` bit by bit.
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// Rounded up to whole nanoseconds, so that what is due after it is due indeed; between 0 and 100 years.
    init(roundingUp seconds: Double) {
        let limit = 3_155_760_000.0
        let nanoseconds = (min(max(seconds, 0), limit) * 1e9).rounded(.up)
        self = .nanoseconds(nanoseconds.isNaN ? 0 : Int64(nanoseconds))
    }
}
