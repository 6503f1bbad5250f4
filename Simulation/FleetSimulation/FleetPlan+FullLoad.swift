import LocationSearch
import QuotaSharing
import Resilience
import SimulatedLoop
import WorkerRuntime

/// A time in which more requests come than the rate allows, so that all of the limit should be used.
struct FullLoad: Sendable {
    /// Seconds from the beginning.
    var start: Double

    /// How long workers may take until all of the limit is used: docs/internals/fleet.md, "How it is tested".
    static let timeToUse = 3.0
    /// How long the use is measured from then on.
    static let measured = 6.0
    /// The least time that is judged, where earlier requests take up a part of it.
    static let leastMeasured = 3.0
    /// Of the limit, the part that must be used, by the same page, which says it of ten seconds.
    static let leastUse = 0.95

    /// How many times the limit comes.
    fileprivate static let excess = 2.0
    /// Seconds by which every worker that was told to end has ended (the grace of 10 s and 10 s more, docs/guarantees.md), and
    /// the partitions of one that vanished are in use again: the session of 6 s and the new owner's wait of 2.28 s.
    fileprivate static let timeToSettle = 20.0

    /// How the texts of its requests begin.
    fileprivate static let prefix = "load-"

    /// True for the text of a request of the load.
    static func isPart(_ keyword: String) -> Bool { keyword.hasPrefix(prefix) }

    var measuredTime: Range<Double> {
        let first = start + Self.timeToUse
        return first..<first + Self.measured
    }
}

extension FleetPlan {
    /// Has more requests come than the rate allows, some time after everything has ended that goes wrong.
    mutating func makeFullLoad(_ random: inout SeededGenerator) {
        // A full load on a large fleet costs about as much as ten other schedules.
        guard rateLimit != nil, callsPerDay == nil, maxAge == nil, members < 5, random.chance(0.08) else { return }
        // The partitions of a member that crashes in a transaction wait until the brokers give the transaction up.
        let waitsForTransactions = delivery == .exactlyOnce && !isCalm
        guard !waitsForTransactions || transactionTimeout <= 10 else { return }

        let perSecond = Double(Int.random(in: 10...20, using: &random))
        rateLimit = RateLimit(perSecond: perSecond)
        (latency, failures) = (0.02...0.1, 0)
        concurrency = 64
        // A request is refused whose turn would come too late, so each lane needs some that wait.
        settings.deadline = max(settings.deadline, 5)

        var start = isCalm ? requestsEnd + 2 : faultsEnd + FullLoad.timeToSettle
        if waitsForTransactions { start += transactionTimeout }
        fullLoad = FullLoad(start: start)

        // What one partition has demand for needs leases from the owners of the others.
        let hot = share == .byDemand && random.chance(0.5) ? Int32.random(in: 0..<partitions, using: &random) : nil
        let first = requests.count
        let seconds = FullLoad.timeToUse + FullLoad.measured
        for index in 0..<Int(FullLoad.excess * perSecond * seconds) {
            requests.append(
                Request(
                    number: first + index, time: start + Double(index) / (FullLoad.excess * perSecond),
                    partition: hot ?? Int32(index / 2 % Int(partitions)), key: "k\(index % 6)",
                    keyword: "\(FullLoad.prefix)\(index)", isValid: true))
        }
    }
}
