internal import Basics

/// What a member has lent and borrowed of one limit.
///
/// The sum over the fleet stays within the limit without anybody who adds it up: a lender uses less from the moment at which
/// it lends until no borrower can use the loan any more, whatever became of its messages, and a borrower counts the loan
/// from the moment at which it asked, which was before it was granted.
struct LoanBook {
    /// A part of the limit, until a moment of our own clock.
    struct Loan: Equatable {
        var part: Double
        var end: Instant
        /// The number of the lender's message.
        var number: UInt64
    }

    private let terms: FleetTerms
    /// What may still be used by each borrower. One that has not read of a newer, smaller grant may use the older one, so the
    /// largest of those counts that have not ended.
    private var lent: [String: [Loan]] = [:]
    /// What each lender lets us use: its newest word counts.
    private var borrowed: [String: Loan] = [:]

    init(_ terms: FleetTerms) { self.terms = terms }

    // MARK: - Lending

    /// Returns what a borrower may use of ours at a moment.
    func lent(to borrower: String, at now: Instant) -> Double {
        lent[borrower, default: []].lazy.filter { $0.end > now }.map(\.part).max() ?? 0
    }

    /// Returns what all borrowers together may use of ours at a moment.
    func lent(at now: Instant) -> Double {
        lent.keys.reduce(0) { $0 + lent(to: $1, at: now) }
    }

    /// Returns what our newest word lets a borrower use. It may still use more, until it has read that.
    func newestLoan(to borrower: String, at now: Instant) -> Double {
        lent[borrower]?.last { $0.end > now }?.part ?? 0
    }

    /// Returns what our newest words let all borrowers together use.
    func newestLoans(at now: Instant) -> Double {
        lent.keys.reduce(0) { $0 + newestLoan(to: $1, at: now) }
    }

    /// Lends to some, as far as there is enough, and asks for what the others have.
    /// - Parameters:
    ///   - wishes: what each is to have.
    ///   - spare: what of our own part we do not need, including what is lent now.
    ///   - number: of the message that says so.
    ///   - answering: the number of a borrower's newest message; `nil` when nothing is known of it.
    mutating func lend(
        _ wishes: [(borrower: String, part: Double)], outOf spare: Double, number: UInt64,
        at now: Instant, answering: (String) -> UInt64?
    ) -> [FleetMessage.Grant] {
        forgetEnded(at: now)
        var free = max(0, spare - lent(at: now))
        let others = lent.keys.filter { name in !wishes.contains { $0.borrower == name } }.sorted()
        var grants: [FleetMessage.Grant] = []

        for (borrower, wish) in wishes + others.map({ (borrower: $0, part: 0) }) {
            guard let answered = answering(borrower) else { continue }
            let held = lent(to: borrower, at: now)
            let part = min(wish, held + min(max(0, wish - held), free))
            guard part > Self.least || held > 0 else { continue }

            free -= max(0, part - held)
            lent[borrower, default: []].append(Loan(part: part, end: now + terms.lenderLoan, number: number))
            grants.append(FleetMessage.Grant(borrower: borrower, answering: answered, part: part))
        }
        return grants
    }

    /// Takes a borrower's word that it goes by no grant of ours that is older than message `number`.
    mutating func forgetLoans(to borrower: String, olderThan number: UInt64) {
        lent[borrower]?.removeAll { $0.number < number }
    }

    /// Takes back what a borrower gives back: it goes by no grant of ours up to message `number`.
    mutating func endLoans(to borrower: String, upTo number: UInt64) {
        lent[borrower]?.removeAll { $0.number <= number }
    }

    /// Parts below this are not worth a message.
    static let least = 1e-6

    private mutating func forgetEnded(at now: Instant) {
        for borrower in lent.keys {
            lent[borrower]?.removeAll { $0.end <= now }
            if lent[borrower]?.isEmpty == true { lent[borrower] = nil }
        }
        borrowed = borrowed.filter { $0.value.end > now }
    }

    // MARK: - Borrowing

    /// Takes a lender's newest word. One that was overtaken changes nothing.
    /// - Parameters:
    ///   - number: of the lender's message.
    ///   - part: what it lets us use.
    ///   - asked: our clock when we sent the message that it answers.
    /// - Returns: true when it is less than before, which the lender waits to hear.
    mutating func borrow(
        _ part: Double, from lender: String, number: UInt64, asked: Instant
    ) -> Bool {
        let former = borrowed[lender]
        if let former, former.number >= number { return false }
        borrowed[lender] = Loan(part: part, end: asked + terms.loan, number: number)
        if isPutBack(.loanNeverEnds) { borrowed[lender]?.end = asked + .seconds(3600) }
        return part < former?.part ?? 0
    }

    /// Gives back whole loans, as far as the others are enough.
    /// - Parameter needed: what must be left.
    /// - Returns: the number of the newest message of each lender that has its loan back.
    mutating func giveBack(leaving needed: Double, at now: Instant) -> [String: UInt64] {
        var left = borrowed(at: now)
        var returned: [String: UInt64] = [:]
        let loans = borrowed.filter { $0.value.end > now && $0.value.part > 0 }.sorted { $0.key < $1.key }
        for (lender, loan) in loans where left - loan.part >= needed {
            left -= loan.part
            // The number is kept, so that an older grant that comes late changes nothing.
            borrowed[lender]?.part = 0
            returned[lender] = loan.number
        }
        return returned
    }

    /// The number of the newest message of each lender whose grant has not ended.
    func heeded(at now: Instant) -> [String: UInt64] {
        borrowed.filter { $0.value.end > now }.mapValues(\.number)
    }

    /// Returns what others let us use at a moment.
    func borrowed(at now: Instant) -> Double {
        borrowed.values.lazy.filter { $0.end > now }.reduce(0) { $0 + $1.part }
    }

    /// The next moment at which something borrowed ends.
    func ends(after now: Instant) -> Instant? {
        borrowed.values.lazy.map(\.end).filter { $0 > now }.min()
    }
}
