/// A feature that this version of librdkafka, alone or with these brokers, does not support.
package struct VersionLimit: Sendable, Hashable {
    /// True if the worker cannot run with its current settings.
    package var isFatal: Bool
    /// The missing feature, as one sentence without its full stop.
    package var text: String
    package var cure: String
}

/// The features that a worker needs of its library and its brokers.
package struct VersionNeeds: Sendable, Hashable {
    /// The login mechanism, such as `SCRAM-SHA-512`; `nil` without a login.
    package var mechanism: String?
    /// True for `kafka.groupProtocol=consumer`.
    package var sharesByBroker = false
    /// True for `worker.delivery=exactly-once`.
    package var transactions = false

    package init(mechanism: String? = nil, sharesByBroker: Bool = false, transactions: Bool = false) {
        self.mechanism = mechanism
        self.sharesByBroker = sharesByBroker
        self.transactions = transactions
    }
}

extension LibraryVersion {
    /// The oldest librdkafka that works with all brokers. Older versions cannot parse Tansu's answers, and cannot log
    /// in to brokers that support only the newer version of `SaslHandshake`.
    static let oldestForAllBrokers = LibraryVersion(2, 2)
    /// The oldest librdkafka that can log in to Kafka 4 with SCRAM. Older versions send their part of the nonce twice,
    /// which older brokers do not check.
    static let oldestWithSCRAM = LibraryVersion(2, 6, 1)
    /// The oldest librdkafka that can log in to Kafka 4.0.0 with Kerberos.
    static let oldestWithKerberos = LibraryVersion(2, 11)
    /// The first librdkafka in which the `consumer` protocol is ready for production.
    static let firstWithNewProtocol = LibraryVersion(2, 12)

    /// Returns the needed features that are not supported.
    /// - Parameter requests: The request versions of the brokers; `nil` while they are unknown.
    package func limits(of needs: VersionNeeds, with requests: BrokerRequests?) -> [VersionLimit] {
        loginLimits(needs, requests) + groupLimits(needs, requests) + writingLimits(needs, requests)
    }

    private func loginLimits(_ needs: VersionNeeds, _ requests: BrokerRequests?) -> [VersionLimit] {
        guard let mechanism = needs.mechanism else { return [] }
        var limits: [VersionLimit] = []

        if mechanism.hasPrefix("SCRAM"), self < Self.oldestWithSCRAM {
            let isKafka4 = requests?.isOfKafka4 == true
            limits.append(
                VersionLimit(
                    isFatal: isKafka4,
                    text:
                        "\(isKafka4 ? "these brokers reject" : "Kafka 4 rejects") \(mechanism) from librdkafka \(self),"
                        + " whatever the password",
                    cure: "use librdkafka \(Self.oldestWithSCRAM) or newer, or log in with PLAIN or a certificate"))
        }
        if mechanism == "GSSAPI", self < Self.oldestWithKerberos, requests?.isOfKafka4 == true {
            limits.append(
                VersionLimit(
                    isFatal: false, text: "Kafka 4.0.0 rejects Kerberos from librdkafka \(self)",
                    cure: "use librdkafka \(Self.oldestWithKerberos) or newer, or brokers of Kafka 4.0.1 or newer"))
        }
        if self < Self.oldestForAllBrokers, (requests?[.saslHandshake]?.lowerBound ?? 0) > 0 {
            limits.append(
                VersionLimit(
                    isFatal: true, text: "librdkafka \(self) does not support the SASL handshake of these brokers",
                    cure: "use librdkafka \(Self.oldestForAllBrokers) or newer"))
        }
        return limits
    }

    private func groupLimits(_ needs: VersionNeeds, _ requests: BrokerRequests?) -> [VersionLimit] {
        guard needs.sharesByBroker else { return [] }
        var limits: [VersionLimit] = []

        if self < Self.firstWithNewProtocol {
            limits.append(
                VersionLimit(
                    isFatal: true, text: "kafka.groupProtocol is consumer, which librdkafka \(self) does not support",
                    cure: "use librdkafka \(Self.firstWithNewProtocol) or newer, or remove the setting"))
        }
        if let requests, requests[.consumerGroupHeartbeat] == nil {
            limits.append(
                VersionLimit(
                    isFatal: true,
                    text: "kafka.groupProtocol is consumer, which these brokers do not support (KIP-848)",
                    cure: "remove the setting, or use brokers of Kafka 4.0 or newer"))
        }
        return limits
    }

    private func writingLimits(_ needs: VersionNeeds, _ requests: BrokerRequests?) -> [VersionLimit] {
        guard let requests else { return [] }
        if requests[.initProducerID] == nil {
            return [
                VersionLimit(
                    isFatal: true, text: "these brokers do not support idempotent producers, which the worker needs",
                    cure: "use brokers of Kafka 0.11 or newer")
            ]
        }
        guard needs.transactions else { return [] }

        let kinds: [BrokerRequests.Kind] = [
            .addPartitionsToTransaction, .addOffsetsToTransaction, .endTransaction, .transactionOffsetCommit,
        ]
        if kinds.contains(where: { requests[$0] == nil }) {
            return [
                VersionLimit(
                    isFatal: true,
                    text: "worker.delivery is exactly-once, but these brokers do not support transactions",
                    cure: "set worker.delivery=at-least-once, or use brokers that support transactions")
            ]
        }
        guard let commit = requests[.transactionOffsetCommit], commit.upperBound < 3 else { return [] }
        return [
            VersionLimit(
                isFatal: false,
                text:
                    "these brokers accept transactions of members that no longer own the partitions (KIP-447), so exactly-once"
                    + " does not hold during rebalances",
                cure: "use brokers of Kafka 2.5 or newer")
        ]
    }
}
