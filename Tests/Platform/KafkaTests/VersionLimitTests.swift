import Testing

@testable import Kafka

/// Features that a combination of library and brokers does not support.
struct VersionLimitTests {
    private static let (old, new) = (LibraryVersion(2, 0, 2), LibraryVersion(2, 16))
    private static let all: [Int16: ClosedRange<Int16>] = [
        1: 0...11, 17: 0...1, 22: 0...4, 24: 0...1, 25: 0...1, 26: 0...1, 28: 0...3, 68: 0...1,
    ]
    private static let kafka4 = BrokerRequests(all.merging([1: 4...17]) { $1 })
    private static let kafka3 = BrokerRequests(all.filter { $0.key != 68 })

    @Test(
        arguments: [
            (old, VersionNeeds(mechanism: "SCRAM-SHA-512"), kafka4, [true]),
            (old, VersionNeeds(mechanism: "SCRAM-SHA-512"), kafka3, [false]),
            (new, VersionNeeds(mechanism: "SCRAM-SHA-512"), kafka4, []),
            (old, VersionNeeds(mechanism: "PLAIN"), kafka4, []),
            (old, VersionNeeds(mechanism: "GSSAPI"), kafka4, [false]),
            (new, VersionNeeds(mechanism: "GSSAPI"), kafka4, []),
            (old, VersionNeeds(sharesByBroker: true), kafka4, [true]),
            (new, VersionNeeds(sharesByBroker: true), kafka4, []),
            (new, VersionNeeds(sharesByBroker: true), kafka3, [true]),
            (old, VersionNeeds(sharesByBroker: true), nil, [true]),
            (new, VersionNeeds(transactions: true), kafka3, []),
            (new, VersionNeeds(transactions: true), BrokerRequests([1: 0...11, 22: 0...1]), [true]),
            (new, VersionNeeds(transactions: true), BrokerRequests(all.merging([28: 0...2]) { $1 }), [false]),
            (new, VersionNeeds(), BrokerRequests([1: 0...3]), [true]),
            (old, VersionNeeds(mechanism: "PLAIN"), BrokerRequests(all.merging([17: 1...1]) { $1 }), [true]),
            (old, VersionNeeds(), nil, []),
        ] as [(LibraryVersion, VersionNeeds, BrokerRequests?, [Bool])])
    func `What cannot be done is told with its cure`(
        library: LibraryVersion, needs: VersionNeeds, requests: BrokerRequests?, areFatal: [Bool]
    ) {
        let limits = library.limits(of: needs, with: requests)
        #expect(limits.map(\.isFatal) == areFatal, "\(limits)")
        #expect(limits.allSatisfy { !$0.text.isEmpty && !$0.cure.isEmpty })
    }

    @Test(
        arguments: [
            ("kafka:9092/1:   ApiKey Fetch (1) Versions 0..11", Int16(1), Int16(0)...11),
            ("kafka:9092/1:   ApiKey ApiKey-90? (90) Versions 0..0", 90, 0...0),
            ("kafka:9092/1:   ApiKey Fetch (1) Versions 3..1", nil, nil), ("Broker API support:", nil, nil),
            (" ApiKey Fetch (x) Versions 0..1", nil, nil), (" ApiKey Fetch (1) Versions 0", nil, nil), ("", nil, nil),
        ] as [(String, Int16?, ClosedRange<Int16>?)])
    func `Requests of brokers are read from the librarys log`(line: String, kind: Int16?, versions: ClosedRange<Int16>?)
    {
        let entry = BrokerRequestLog.parse(line)
        #expect(entry?.kind == kind && entry?.versions == versions)
    }

    @Test func `Of brokers that differ what all take counts`() {
        let log = BrokerRequestLog()
        #expect(log.requests == nil)
        for versions in ["0..11", "4..17"] { log.note(line: "  ApiKey Fetch (1) Versions \(versions)") }
        #expect(log.requests?.versions == [1: 4...11])
    }

    @Test(arguments: [
        (Int16(4)...17, "4.0 or newer"), (0...17, "3.9"), (0...11, "2.3 to 2.6"), (0...4, "2.2 or older"),
    ])
    func `Brokers are likened to a version of Kafka`(fetch: ClosedRange<Int16>, version: String) {
        #expect(BrokerRequests([1: fetch]).likeness == "Kafka \(version)")
    }
}
