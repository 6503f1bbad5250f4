import Testing
import WorkerRuntime

/// Two lanes with the same transactional id would fence each other, and both workers would end.
struct TransactionalIDTests {
    static let members: [(group: String, instance: String)] = [
        ("a-b", "c"), ("a", "b-c"), ("a", "b"), ("a-b-c", ""), ("a-1.0", "b"), ("a", "1.0-b"), ("a", "c-1.0"),
        ("a-c", "1.0"),
    ]

    @Test func `No two members of a cluster have the same id`() {
        let all = Self.members.flatMap { member in
            (0..<12).map { LaneAssembly.transactionalID(group: member.group, instance: member.instance, lane: $0) }
        }
        #expect(Set(all).count == all.count)
    }

    @Test(arguments: members)
    func `Id begins with the group for permissions by prefix`(member: (group: String, instance: String)) {
        let id = LaneAssembly.transactionalID(group: member.group, instance: member.instance, lane: 0)
        #expect(id.hasPrefix("\(member.group)-"))
    }
}
