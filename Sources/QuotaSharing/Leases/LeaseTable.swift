internal import Basics

/// What a member has lent and borrowed of one limit.
///
/// The sum over the fleet stays within the limit without anybody who adds it up: a lender uses less from the moment at which
/// it lends until no borrower can use the loan any more, whatever became of its messages, and a borrower counts the loan
/// from the moment at which it asked, which was before it was granted.
struct LeaseTable {
    /// A part of the limit, until a moment of our own clock.
    struct Lease: Equatable {
        var share: Double
        var end: Instant
        /// The number of the lender's message.
        var number: UInt64
    }

    private let terms: LeaseTimes
    /// What may still be used by each borrower. One that has not read of a newer, smaller grant may use the older one, so the
    /// largest of those counts that have not ended.
    private var leasedOut: [String: [Lease]] = [:]
    /// What each lender lets us use: its newest word counts.
    private var leasedIn: [String: Lease] = [:]

    init(_ terms: LeaseTimes) { self.terms = terms }

    // MARK: - Lending

    /// Returns what a borrower may use of ours at a moment.
    func leasedOut(to lessee: String, at now: Instant) -> Double {
        leasedOut[lessee, default: []].lazy.filter { $0.end > now }.map(\.share).max() ?? 0
    }

    /// Returns what all borrowers together may use of ours at a moment.
    func leasedOut(at now: Instant) -> Double {
        leasedOut.keys.reduce(0) { $0 + leasedOut(to: $1, at: now) }
    }

    /// Returns what our newest word lets a borrower use. It may still use more, until it has read that.
    func newestLease(to lessee: String, at now: Instant) -> Double {
        leasedOut[lessee]?.last { $0.end > now }?.share ?? 0
    }

    /// Returns what our newest words let all borrowers together use.
    func newestLeases(at now: Instant) -> Double {
        leasedOut.keys.reduce(0) { $0 + newestLease(to: $1, at: now) }
    }

    /// Lends to some, as far as there is enough, and asks for what the others have.
    /// - Parameters:
    ///   - wishes: what each is to have.
    ///   - spare: what of our own part we do not need, including what is lent now.
    ///   - number: of the message that says so.
    ///   - answering: the number of a borrower's newest message; `nil` when nothing is known of it.
    mutating func leaseOut(
        _ wishes: [(lessee: String, share: Double)], outOf spare: Double, number: UInt64,
        at now: Instant, answering: (String) -> UInt64?
    ) -> [LeaseMessage.Grant] {
        forgetEnded(at: now)
        var free = max(0, spare - leasedOut(at: now))
        let others = leasedOut.keys.filter { name in !wishes.contains { $0.lessee == name } }.sorted()
        var grants: [LeaseMessage.Grant] = []

        for (lessee, wish) in wishes + others.map({ (lessee: $0, share: 0) }) {
            guard let answered = answering(lessee) else { continue }
            let held = leasedOut(to: lessee, at: now)
            let share = min(wish, held + min(max(0, wish - held), free))
            guard share > Self.least || held > 0 else { continue }

            free -= max(0, share - held)
            leasedOut[lessee, default: []].append(Lease(share: share, end: now + terms.lessorLease, number: number))
            grants.append(LeaseMessage.Grant(lessee: lessee, answering: answered, share: share))
        }
        return grants
    }

    /// Takes a borrower's word that it goes by no grant of ours that is older than message `number`.
    mutating func forgetLeases(to lessee: String, olderThan number: UInt64) {
        leasedOut[lessee]?.removeAll { $0.number < number }
    }

    /// Takes back what a borrower gives back: it goes by no grant of ours up to message `number`.
    mutating func endLeases(to lessee: String, upTo number: UInt64) {
        leasedOut[lessee]?.removeAll { $0.number <= number }
    }

    /// Parts below this are not worth a message.
    static let least = 1e-6

    private mutating func forgetEnded(at now: Instant) {
        for lessee in leasedOut.keys {
            leasedOut[lessee]?.removeAll { $0.end <= now }
            if leasedOut[lessee]?.isEmpty == true { leasedOut[lessee] = nil }
        }
        leasedIn = leasedIn.filter { $0.value.end > now }
    }

    // MARK: - Borrowing

    /// Takes a lender's newest word. One that was overtaken changes nothing.
    /// - Parameters:
    ///   - number: of the lender's message.
    ///   - share: what it lets us use.
    ///   - asked: our clock when we sent the message that it answers.
    /// - Returns: true when it is less than before, which the lender waits to hear.
    mutating func take(
        _ share: Double, from lessor: String, number: UInt64, asked: Instant
    ) -> Bool {
        let former = leasedIn[lessor]
        if let former, former.number >= number { return false }
        leasedIn[lessor] = Lease(share: share, end: asked + terms.lease, number: number)
        if isPutBack(.leaseNeverEnds) { leasedIn[lessor]?.end = asked + .seconds(3600) }
        return share < former?.share ?? 0
    }

    /// Gives back whole loans, as far as the others are enough.
    /// - Parameter needed: what must be left.
    /// - Returns: the number of the newest message of each lender that has its loan back.
    mutating func giveBack(leaving needed: Double, at now: Instant) -> [String: UInt64] {
        var left = leasedIn(at: now)
        var returned: [String: UInt64] = [:]
        let leases = leasedIn.filter { $0.value.end > now && $0.value.share > 0 }.sorted { $0.key < $1.key }
        for (lessor, lease) in leases where left - lease.share >= needed {
            left -= lease.share
            // The number is kept, so that an older grant that comes late changes nothing.
            leasedIn[lessor]?.share = 0
            returned[lessor] = lease.number
        }
        return returned
    }

    /// The number of the newest message of each lender whose grant has not ended.
    func acknowledged(at now: Instant) -> [String: UInt64] {
        leasedIn.filter { $0.value.end > now }.mapValues(\.number)
    }

    /// Returns what others let us use at a moment.
    func leasedIn(at now: Instant) -> Double {
        leasedIn.values.lazy.filter { $0.end > now }.reduce(0) { $0 + $1.share }
    }

    /// The next moment at which something borrowed ends.
    func ends(after now: Instant) -> Instant? {
        leasedIn.values.lazy.map(\.end).filter { $0 > now }.min()
    }
}
