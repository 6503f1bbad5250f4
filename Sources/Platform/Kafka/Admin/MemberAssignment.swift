/// Decodes the partitions assigned to a member from the bytes written by the group's leader (Kafka's
/// `ConsumerProtocolAssignment`).
enum MemberAssignment {
    /// Decodes the partitions. The bytes after them are private to the assignor.
    /// - Returns: The decoded partitions; empty for bytes in another format.
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

    /// Removes a signed big-endian number from the front.
    private static func integer(_ width: Int, from bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard bytes.count >= width else { return nil }
        let value = bytes.prefix(width).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes = bytes.dropFirst(width)

        let unused = 64 - 8 * width
        return Int64(bitPattern: value << unused) >> unused
    }
}
