import Kafka
import Logging
import ProviderCalls
import QuotaSharing

/// What the checks of `locsearch doctor` know: the settings, and what earlier checks have found.
struct Examination: Sendable {
    /// What a person allows the checks to do.
    enum Calls: Sendable {
        /// Providers are not talked to.
        case none
        /// Providers are reached, and keys are tried once the person agrees.
        case asking(@Sendable (_ question: String) -> Bool)
    }

    let reading: SettingsReading
    let calls: Calls
    /// How long each question may take.
    let timeout: Duration
    let log: Logger

    /// The brokers of `kafka.bootstrapServers`, with what was found out about each.
    var doors: [BrokerDoor] = []
    /// A client that has talked to a broker; `nil` until then.
    var admin: TopicAdmin?
    var cluster: ClusterDescription?
    /// The requests that the brokers take, as far as one has told.
    var requests: BrokerRequests?
    /// The configuration of each topic that is there and tells it, by its name.
    var topicConfigurations: [String: [String: String]] = [:]

    /// The clocks of providers that were reached, each by how far it is ahead of this machine's.
    var providerClocks: [(name: String, ahead: Duration)] = []

    init(_ reading: SettingsReading, calls: Calls, timeout: Duration, log: Logger) {
        self.reading = reading
        self.calls = calls
        self.timeout = timeout
        self.log = log
    }

    var settings: Settings { reading.settings }

    /// Returns how clients connect to the brokers; `nil` where the settings that say so are wrong.
    var consumer: ConsumerConfiguration? {
        guard !reading.concerns(["kafka."]) else { return nil }
        return try? settings.consumer()
    }

    /// The topics, by their jobs, that a worker with these settings uses.
    var roles: [RecommendedTopic.Role] {
        RecommendedTopic.Role.allCases.filter { $0 != .fleet || sharesByTopic }
    }

    /// True when workers tell each other something about limits or daily budgets.
    var sharesByTopic: Bool {
        !settings.callsPerDay.isEmpty
            || settings.policies.values.contains { $0.rateLimit != nil && $0.share == .byDemand }
    }

    /// The reason for leaving out what needs brokers; `nil` where they answer.
    var reasonWithoutBrokers: String? {
        if consumer == nil { return "the settings that say how to reach the brokers are wrong" }
        return cluster == nil ? "no broker can be talked to" : nil
    }

    static let brokersFirst = "put that right first"
}

/// A broker of `kafka.bootstrapServers`.
struct BrokerDoor: Sendable {
    let host: String
    let port: UInt16
    /// The host's addresses; empty where its name has none.
    var addresses: [NetworkAddress] = []
    /// The address that accepted a connection.
    var reached: NetworkAddress?
    var spoken: SpokenProtocol?

    var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
