import Kafka

/// The attempt of a client to connect to one broker, with the TLS and the login of the settings.
struct BrokerTrial: Sendable {
    let address: String
    /// The connection, or why there is none.
    let result: Result<Examination.Connection, Failure>

    /// Tries all addresses at the same time.
    /// - Returns: the trials, in the order of the addresses.
    static func of(_ addresses: [String], _ examination: Examination) async throws(SkippedCheck) -> [BrokerTrial] {
        let consumer = try examination.consumer()
        return await withTaskGroup(of: (Int, BrokerTrial).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask { (index, await BrokerTrial(address, consumer, examination)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private init(_ address: String, _ consumer: ConsumerConfiguration, _ examination: Examination) async {
        self.address = address
        var configuration = consumer.reconnectingSoon
        configuration.bootstrapServers = address
        do throws(KafkaError) {
            let admin = try TopicAdmin(configuration, log: examination.log, noting: examination.requestLog)
            do throws(KafkaError) {
                let cluster = try await admin.cluster(within: examination.timeout)
                result = .success(Examination.Connection(admin: admin, cluster: cluster))
            } catch {
                let reason = admin.unreachable ?? "\(address) (no answer within \(examination.timeout.readable))"
                result = .failure(Failure("no connection: \(reason)", code: Failure.unreachable))
            }
        } catch {
            result = .failure(Failure(error.description, code: Failure.configuration))
        }
    }
}
