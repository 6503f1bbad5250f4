import Basics
import TestSupport
import Testing

@testable import QuotaSharing

/// Which messages of a fleet topic count, where several fleets or keys share it.
struct QuotaScopeTests {
    private static let start = Instant.now

    @Test(arguments: [
        QuotaScope(provider: "p"), QuotaScope(provider: "p", fleet: "f"),
        QuotaScope(provider: "p", fleet: "f", key: "k"),
        QuotaScope(provider: "", fleet: "", key: "a/b"),
    ])
    func scopeIsReadFromItsName(scope: QuotaScope) {
        #expect(QuotaScope(name: scope.name) == scope)
    }

    // MARK: - Rate

    /// A member of a fleet that shares one limit.
    private static func member(_ name: String, fleet: String, key: String = "k") -> LendingMember {
        LendingMember(name: name, limits: [limit(fleet, key)], at: start)
    }

    private static func limit(_ fleet: String, _ key: String = "k") -> String {
        QuotaScope(provider: "p", fleet: fleet, key: key).name
    }

    /// Has members tell each other what they need for six seconds.
    private static func talk(
        _ members: [(LendingMember, limit: String, need: Double)], until end: Duration = .seconds(6)
    ) -> Instant {
        var now = start
        while now < start + end {
            for (speaker, limit, need) in members {
                speaker.setNeed(need, of: limit)
                guard let message = speaker.look(at: now) else { continue }
                for (listener, _, _) in members { listener.receive(message, at: now) }
            }
            now += .milliseconds(50)
        }
        return now
    }

    /// Two groups with one key for each other's topics: an idle member of one has nothing for the other.
    @Test func idleMemberOfAnotherFleetLendsNothing() {
        let (a, b) = (Self.member("a", fleet: "f"), Self.member("b", fleet: "f"))
        let idle = Self.member("idle", fleet: "g")
        a.assign(0..<6, of: 12, at: Self.start)
        b.assign(6..<12, of: 12, at: Self.start)
        idle.assign(0..<12, of: 12, at: Self.start)

        let now = Self.talk([(a, Self.limit("f"), 1), (b, Self.limit("f"), 1), (idle, Self.limit("g"), 0)])
        #expect(a.part(of: Self.limit("f"), at: now) + b.part(of: Self.limit("f"), at: now) <= 1)
        #expect(a.part(of: Self.limit("f"), at: now) == 0.5)
    }

    @Test func memberWithAnotherKeyLendsNothing() {
        let (a, other) = (Self.member("a", fleet: "f"), Self.member("other", fleet: "f", key: "l"))
        a.assign(0..<6, of: 12, at: Self.start)
        other.assign(6..<12, of: 12, at: Self.start)

        let now = Self.talk([(a, Self.limit("f"), 1), (other, Self.limit("f", "l"), 0)])
        #expect(a.part(of: Self.limit("f"), at: now) == 0.5)
    }

    @Test func loansOutliveTheReplacementOfAKey() {
        let (lender, hungry) = (Self.member("lender", fleet: "f"), Self.member("hungry", fleet: "f"))
        lender.assign(0..<6, of: 12, at: Self.start)
        hungry.assign(6..<12, of: 12, at: Self.start)
        let now = Self.talk([(lender, Self.limit("f"), 0), (hungry, Self.limit("f"), 1)])
        #expect(hungry.part(of: Self.limit("f"), at: now) == 1)

        lender.rename(Self.limit("f"), to: Self.limit("f", "l"))
        #expect(lender.part(of: Self.limit("f", "l"), at: now) == 0)
        #expect(lender.part(of: Self.limit("f"), at: now) == 0)
    }

    @Test func messagesAreToldApart() {
        let member = Self.member("a", fleet: "f")
        func relation(_ limits: [String]) -> ScopeRelation {
            let told = limits.reduce(into: [:]) { $0[$1] = FleetMessage.Limit(need: 0) }
            return member.relation(
                of: FleetMessage(sender: "b", number: 1, owned: 1, partitionCount: 2, limits: told))
        }

        #expect(relation([Self.limit("f")]) == .own)
        #expect(relation([QuotaScope(provider: "q", fleet: "f", key: "k").name]) == .own)
        #expect(relation([Self.limit("g")]) == .foreign)
        #expect(relation([Self.limit("f", "l")]) == .foreign)
        #expect(relation(["p"]) == .unscoped)
    }
}
