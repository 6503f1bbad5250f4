import Basics
import Resilience
import TestSupport
import Testing

@testable import QuotaSharing

/// The messages that count in a fleet topic shared by several fleets or keys.
struct QuotaScopeTests {
    private static let start = Instant.now

    @Test(arguments: [
        QuotaScope(provider: "p"), QuotaScope(provider: "p", fleet: "f"),
        QuotaScope(provider: "p", fleet: "f", key: "k"), QuotaScope(provider: "", fleet: "", key: "a/b"),
    ])
    func `A scope is read from its name`(scope: QuotaScope) {
        #expect(QuotaScope(name: scope.name) == scope)
    }

    // MARK: - Rate

    /// Returns a member of a fleet that shares one limit.
    private static func member(_ name: String, fleet: String, key: String = "k") -> LeaseMember {
        LeaseMember(name: name, limits: [limit(fleet, key)], at: start)
    }

    private static func limit(_ fleet: String, _ key: String = "k") -> String {
        QuotaScope(provider: "p", fleet: fleet, key: key).name
    }

    /// Lets members exchange their demand for six seconds.
    private static func talk(
        _ members: [(LeaseMember, limit: String, demand: Double)], until end: Duration = .seconds(6)
    ) -> Instant {
        var now = start
        while now < start + end {
            for (publisher, limit, demand) in members {
                publisher.setDemand(LimitDemand(demand), of: limit)
                guard let message = publisher.tick(at: now) else { continue }
                for (reader, _, _) in members { reader.receive(message, at: now) }
            }
            now += .milliseconds(50)
        }
        return now
    }

    /// Two groups may share a key but read different topics, and two processes of one group may have different keys.
    @Test(arguments: [("g", "k"), ("f", "l")])
    func `An idle member of another fleet or key leases nothing`(fleet: String, key: String) {
        let (a, other) = (Self.member("a", fleet: "f"), Self.member("other", fleet: fleet, key: key))
        a.assign(0..<6, of: 12, at: Self.start)
        other.assign(6..<12, of: 12, at: Self.start)

        let now = Self.talk([(a, Self.limit("f"), 1), (other, Self.limit(fleet, key), 0)])
        #expect(a.share(of: Self.limit("f"), at: now) == 0.5)
    }

    @Test func `Leases outlive the replacement of a key`() {
        let (lessor, lessee) = (Self.member("lessor", fleet: "f"), Self.member("lessee", fleet: "f"))
        lessor.assign(0..<6, of: 12, at: Self.start)
        lessee.assign(6..<12, of: 12, at: Self.start)
        let now = Self.talk([(lessor, Self.limit("f"), 0), (lessee, Self.limit("f"), 1)])
        #expect(lessee.share(of: Self.limit("f"), at: now) == 1)

        lessor.rename(Self.limit("f"), to: Self.limit("f", "l"))
        #expect(lessor.share(of: Self.limit("f", "l"), at: now) == 0)
        #expect(lessor.share(of: Self.limit("f"), at: now) == 0)
    }

    @Test func `Messages of other scopes are foreign`() {
        let member = Self.member("a", fleet: "f")
        func relation(_ limits: [String]) -> ScopeRelation {
            let told = limits.reduce(into: [:]) { $0[$1] = LeaseMessage.Limit(demand: 0) }
            return member.relation(of: LeaseMessage(sender: "b", number: 1, owned: 1, partitionCount: 2, limits: told))
        }

        #expect(relation([Self.limit("f")]) == .own)
        #expect(relation([QuotaScope(provider: "q", fleet: "f", key: "k").name]) == .own)
        #expect(relation([Self.limit("g")]) == .foreign)
        #expect(relation([Self.limit("f", "l")]) == .foreign)
        #expect(relation(["p"]) == .unscoped)
    }
}
