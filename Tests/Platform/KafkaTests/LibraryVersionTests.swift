import Testing

@testable import Kafka

/// The table of properties that depend on the running librdkafka, for all relevant versions.
struct LibraryVersionTests {
    static let versions = [
        (2, 0, 2), (2, 1, 0), (2, 2, 0), (2, 5, 0), (2, 6, 0), (2, 6, 1), (2, 8, 0), (2, 9, 0), (2, 10, 0), (2, 16, 0),
    ]

    private func value(_ property: String, _ client: LibraryVersion.Rule.Client, _ version: (Int, Int, Int)) -> String?
    {
        LibraryVersion(Int32(version.0), Int32(version.1), Int32(version.2)).defaults(for: client)[property]
    }

    @Test(arguments: versions)
    func `The assignor is cooperative from 2.10 on`(version: (Int, Int, Int)) {
        #expect(
            value("partition.assignment.strategy", .consumer, version)
                == (version >= (2, 10, 0) ? "cooperative-sticky" : "range"))
        #expect(value("partition.assignment.strategy", .producer, version) == nil)
    }

    @Test(arguments: versions)
    func `A version gets no property that it does not know`(version: (Int, Int, Int)) {
        #expect((value("fetch.queue.backoff.ms", .consumer, version) != nil) == (version >= (2, 2, 0)))
        #expect((value("enable.metrics.push", .consumer, version) != nil) == (version >= (2, 5, 0)))
        #expect((value("enable.metrics.push", .producer, version) != nil) == (version >= (2, 5, 0)))
    }

    /// Below 2.2.0 a full queue waits 1 s, so the prefetch limits the records of a partition per second.
    @Test(arguments: versions)
    func `The prefetch is deeper in versions whose full queue waits a second`(version: (Int, Int, Int)) throws {
        let depth = try #require(value("queued.min.messages", .consumer, version).flatMap { Int($0) })
        let fetch = value("fetch.message.max.bytes", .consumer, version).flatMap { Int($0) }
        #expect(version < (2, 2, 0) ? depth >= 2000 && fetch == nil : depth == 200 && fetch == 65_536)
    }

    @Test func `A version is compared by its numbers`() {
        #expect(LibraryVersion(2, 0, 2).description == "2.0.2")
        #expect(LibraryVersion(2, 16).description == "2.16.0")
        #expect(LibraryVersion(2, 6, 0) < LibraryVersion(2, 6, 1))
        #expect(LibraryVersion(2, 8) < LibraryVersion(2, 16))
        #expect(LibraryVersion.running >= LibraryVersion(2, 0, 2))
    }

    @Test func `Every rule gives its reason`() { for rule in LibraryVersion.rules { #expect(rule.reason.count > 20) } }
}
