import Kafka
import Logging
import ProviderCalls
import QuotaSharing

/// The input of the checks of `locsearch doctor`: the settings, and the results of earlier checks.
struct Examination: Sendable {
    /// The provider calls that the user allows.
    enum Calls: Sendable {
        /// Providers are not contacted.
        case none
        /// Providers are contacted, and keys are tried once the user agrees.
        case asking(@Sendable (_ question: String) -> Bool)
    }

    let reading: SettingsReading
    let calls: Calls
    /// The timeout of each request.
    let timeout: Duration
    let log: Logger

    /// The brokers of `kafka.bootstrapServers`, with the results for each.
    var doors: [BrokerDoor] = []
    /// A client that has connected to a broker; `nil` before that.
    var admin: TopicAdmin?
    var cluster: ClusterDescription?
    /// The request types that the brokers support; `nil` until a broker has reported them.
    var requests: BrokerRequests?
    /// The configurations of existing topics, by topic name. Topics whose configuration cannot be read are missing.
    var topicConfigurations: [String: [String: String]] = [:]

    /// The clocks of the providers that answered: how far each is ahead of this machine's clock.
    var providerClocks: [(name: String, ahead: Duration)] = []

    init(_ reading: SettingsReading, calls: Calls, timeout: Duration, log: Logger) {
        self.reading = reading
        self.calls = calls
        self.timeout = timeout
        self.log = log
    }

    var settings: Settings { reading.settings }

    /// The configuration for connecting to the brokers; `nil` if its settings are invalid.
    var consumer: ConsumerConfiguration? {
        guard !reading.concerns(["kafka."]) else { return nil }
        return try? settings.consumer()
    }

    /// The roles of the topics that a worker with these settings uses.
    var roles: [RecommendedTopic.Role] {
        RecommendedTopic.Role.allCases.filter { $0 != .fleet || sharesByTopic }
    }

    /// True if workers share rate limits or daily budgets through the fleet topic.
    var sharesByTopic: Bool {
        !settings.callsPerDay.isEmpty
            || settings.policies.values.contains { $0.rateLimit != nil && $0.share == .byDemand }
    }

    /// Why checks that need brokers are skipped; `nil` if the brokers answer.
    var reasonWithoutBrokers: String? {
        if consumer == nil { return "the settings of the brokers are invalid" }
        return cluster == nil ? "no broker is reachable" : nil
    }

    static let brokersFirst = "fix that first"
}

/// A broker of `kafka.bootstrapServers`, with the results of the checks.
struct BrokerDoor: Sendable {
    let host: String
    let port: UInt16
    /// The host's addresses; empty if its name cannot be resolved.
    var addresses: [NetworkAddress] = []
    /// The address that accepted a connection.
    var reached: NetworkAddress?
    var spoken: SpokenProtocol?

    var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
