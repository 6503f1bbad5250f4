import Kafka
import Logging
import ProviderCalls
import QuotaSharing

/// The input of the checks of `locsearch doctor`: the settings, and the results of earlier checks.
struct Examination: Sendable {
    /// A client that has connected to a broker, and the broker's description of the cluster.
    struct Connection: Sendable {
        let admin: TopicAdmin
        let cluster: ClusterDescription
    }

    let reading: SettingsReading
    /// Asks the user whether keys may be tried; `nil`: providers are not contacted.
    let asks: (@Sendable (_ question: String) -> Bool)?
    /// The timeout of each request.
    let timeout: Duration
    let log: Logger

    /// `nil` before a client has connected to a broker.
    var connection: Connection?
    /// The clocks of the providers that answered: how far each is ahead of this machine's clock.
    var providerClocks: [(name: String, ahead: Duration)] = []

    /// The providers that could not be reached. Later checks do not report them again.
    var unreachable: Set<String> = []

    init(_ reading: SettingsReading, asks: (@Sendable (_ question: String) -> Bool)?, timeout: Duration, log: Logger) {
        (self.reading, self.asks, self.timeout, self.log) = (reading, asks, timeout, log)
    }

    var settings: Settings { reading.settings }

    /// The roles of the topics that a worker with these settings uses.
    var roles: [RecommendedTopic.Role] {
        RecommendedTopic.Role.allCases.filter { $0 != .fleet || sharesByTopic }
    }

    /// True if workers share rate limits or budgets through the fleet topic.
    var sharesByTopic: Bool {
        !settings.budgets.isEmpty
            || settings.policies.values.contains(where: \.sharesByDemand)
    }

    // MARK: - What checks require

    /// Returns the configuration for connecting to the brokers.
    func consumer() throws(SkippedCheck) -> ConsumerConfiguration {
        guard !reading.concerns(["kafka."]), let consumer = try? settings.consumer() else {
            throw SkippedCheck("the settings of the brokers are invalid")
        }
        return consumer
    }

    func connected() throws(SkippedCheck) -> Connection {
        _ = try consumer()
        guard let connection else { throw SkippedCheck("no broker is reachable") }
        return connection
    }

    /// Requires that no setting below these names is invalid.
    func requireValid(_ names: [String], _ what: String) throws(SkippedCheck) {
        if reading.concerns(names) { throw SkippedCheck("\(what) are invalid") }
    }
}

/// Why a check was not made.
struct SkippedCheck: Error {
    let reason: String
    let cure: String

    init(_ reason: String, cure: String = "fix that first") {
        self.reason = reason
        self.cure = cure
    }
}
