/// The partitions that a member of a group was given, in the bytes that the group's leader has written for it (Kafka's
/// `ConsumerProtocolAssignment`).
enum MemberAssignment {
    /// Reads the partitions. What follows them is the assignor's own.
    /// - Returns: Those that were read; none of bytes that another kind of group has written.
    static func partitions(in bytes: [UInt8]) -> Set<TopicPartition> {
        var (rest, partitions) = (bytes[...], Set<TopicPartition>())
        guard integer(2, from: &rest) != nil, let topics = integer(4, from: &rest) else { return [] }

        var topic: Int64 = 0
        while topic < topics {
            guard let length = integer(2, from: &rest), length >= 0, length <= rest.count else { return [] }
            let name = String(decoding: rest.prefix(Int(length)), as: UTF8.self)
            rest = rest.dropFirst(Int(length))

            guard let count = integer(4, from: &rest), count <= rest.count else { return [] }
            for _ in 0..<max(0, count) {
                guard let number = integer(4, from: &rest) else { return [] }
                partitions.insert(TopicPartition(name, Int32(truncatingIfNeeded: number)))
            }
            topic += 1  // bounded: below a number of four bytes
        }
        return partitions
    }

    /// Takes a signed number off the front, the most significant byte first.
    private static func integer(_ width: Int, from bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard bytes.count >= width else { return nil }
        let value = bytes.prefix(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(width)

        let unused = 64 - 8 * width
        return Int64(bitPattern: value << unused) >> unused
    }
}
