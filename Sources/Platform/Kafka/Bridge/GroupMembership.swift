internal import CRdkafka

/// A consumer's membership of its group in one generation, for a transaction to name: brokers refuse offsets in the name of
/// a generation that is over.
public final class GroupMembership: Sendable {
    /// `nil` only in a membership that a fake consumer made up.
    let metadata: Shared?
    /// The member's id, which the group gives anew to a member that it has thrown out. `nil` where the running library does not say.
    let memberID: String?
    /// Names the member in a simulation, whose consumer has no client of librdkafka; `nil` in a real membership.
    package let simulatedName: (any Sendable)?

    /// Makes a membership that belongs to no client, for tests with a fake consumer. A real producer refuses it.
    package init() {
        metadata = nil
        memberID = nil
        simulatedName = nil
    }

    /// Makes the membership of a simulated consumer. A real producer refuses it.
    package init(simulatedName: any Sendable) {
        metadata = nil
        memberID = nil
        self.simulatedName = simulatedName
    }

    /// - Parameter client: A consumer's, after an assignment has come.
    /// - Returns: `nil` when the client is no member of a generation, because the group has thrown it out meanwhile.
    convenience init?(of client: ClientHandle) {
        guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else { return nil }
        self.init(owning: metadata)
    }

    /// Takes `metadata` over.
    /// - Returns: `nil` when it names no generation: brokers do not fence offsets in the name of nobody, so that a member
    ///   that was thrown out could commit for partitions that others have.
    init?(owning metadata: OpaquePointer) {
        self.metadata = Shared(pointer: metadata)
        simulatedName = nil
        let name = Self.name(in: metadata)
        memberID = name?.memberID
        if let name, name.generation < 0 { return nil }
    }

    /// Returns the id that a consumer's client has in its group, also while it is in no generation; `nil` where the running library
    /// does not say.
    static func memberID(of client: ClientHandle) -> String? {
        guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else { return nil }
        defer { rd_kafka_consumer_group_metadata_destroy(metadata) }
        return name(in: metadata)?.memberID
    }

    /// Reads generation and member out of librdkafka's serialised form, because no call returns the generation before 2.4.
    private static func name(in metadata: OpaquePointer) -> (generation: Int32, memberID: String)? {
        var (buffer, size): (UnsafeMutableRawPointer?, Int) = (nil, 0)
        if let error = rd_kafka_consumer_group_metadata_write(metadata, &buffer, &size) {
            rd_kafka_error_destroy(error)
            return nil
        }
        guard let buffer else { return nil }
        defer { rd_kafka_mem_free(nil, buffer) }

        return name(in: UnsafeRawBufferPointer(start: buffer, count: size))
    }

    /// Reads "CGMDv2:", the generation in the machine's byte order, the group and the member, each with a zero behind it.
    /// - Returns: `nil` for another form.
    static func name(in bytes: UnsafeRawBufferPointer) -> (generation: Int32, memberID: String)? {
        let prefix = Array("CGMDv2:".utf8)
        guard bytes.count >= prefix.count + 4, bytes.starts(with: prefix) else { return nil }
        let generation = bytes.loadUnaligned(fromByteOffset: prefix.count, as: Int32.self)

        let texts = bytes.dropFirst(prefix.count + 4).split(
            separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard texts.count == 3 else { return nil }
        return (generation, String(decoding: texts[1], as: UTF8.self))
    }

    deinit {
        if let metadata { rd_kafka_consumer_group_metadata_destroy(metadata.pointer) }
    }
}
