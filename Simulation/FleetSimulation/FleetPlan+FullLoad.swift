import LocationSearch
import QuotaSharing
import Resilience
import SimulatedLoop
import WorkerRuntime

/// A period in which more requests come than the rate allows, so that the whole limit should be used.
struct FullLoad: Sendable {
    /// Seconds from the beginning.
    var start: Double

    /// The time that workers may take until the whole limit is used: docs/internals/fleet.md, "How it is tested".
    static let timeToUse = 3.0
    /// The seconds for which the use is measured from then on.
    static let measured = 6.0
    /// The shortest period that is judged, if earlier requests take up a part of it.
    static let leastMeasured = 3.0
    /// The fraction of the limit that must be used. The same page states it for periods of ten seconds.
    static let leastUse = 0.95

    /// The ratio of requests to the limit.
    fileprivate static let excess = 2.0
    /// The seconds after which the fleet is at rest again.
    ///
    /// Each drained worker has ended (grace of 10 s and 10 s more, docs/guarantees.md). The partitions of a crashed one are in use
    /// again: session timeout of 6 s and the new owner's wait of 2.28 s.
    fileprivate static let timeToSettle = 20.0

    /// The seconds for which a partition may stand still after its topic was missing: docs/guarantees.md, "Intake pauses".
    fileprivate static let timeOfMissing = 65.0

    /// The prefix of the keywords of its requests.
    fileprivate static let prefix = "load-"

    /// Returns true for the keyword of a request of the load.
    static func isPart(_ keyword: String) -> Bool { keyword.hasPrefix(prefix) }

    var measuredTime: Range<Double> {
        let first = start + Self.timeToUse
        return first..<first + Self.measured
    }
}

extension FleetPlan {
    /// Adds a load beyond the rate limit, some time after all faults have ended.
    mutating func makeFullLoad(_ random: inout SeededGenerator) {
        // A full load on a large fleet costs about as much as ten other schedules.
        guard rateLimit != nil, callsPerDay == nil, maxAge == nil, members < 5, random.chance(0.08) else { return }
        // The partitions of a member that crashes in a transaction wait until the brokers abort the transaction.
        let waitsForTransactions = delivery == .exactlyOnce && !isCalm
        guard !waitsForTransactions || transactionTimeout <= 10 else { return }

        let perSecond = Double(Int.random(in: 10...20, using: &random))
        rateLimit = RateLimit(perSecond: perSecond)
        (latency, failures) = (0.02...0.1, 0)
        concurrency = 64
        // A request is rejected if its token would come too late, so each lane needs some that wait.
        settings.deadline = max(settings.deadline, 5)

        var start = isCalm ? requestsEnd + 2 : faultsEnd + FullLoad.timeToSettle
        if waitsForTransactions { start += transactionTimeout }
        for fault in faults where fault.recreatesRequests {
            start = max(start, fault.time + FullLoad.timeOfMissing)
        }
        fullLoad = FullLoad(start: start)

        // Demand in one partition needs leases from the owners of the others.
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
