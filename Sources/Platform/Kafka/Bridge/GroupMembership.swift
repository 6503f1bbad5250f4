internal import CRdkafka

/// A consumer's membership of its group in one generation, needed by a transaction. Brokers reject offsets from an
/// older generation.
public final class GroupMembership: Sendable {
    /// `nil` only in a membership made by a fake consumer.
    let metadata: Shared?
    /// `nil` if the running library does not provide it.
    let name: Name?
    /// The member's name in a simulation, whose consumer has no librdkafka client; `nil` in a real membership.
    package let simulatedName: (any Sendable)?

    /// A member's name in its group.
    struct Name {
        let generation: Int32
        /// The group assigns a new one to a member that it has expelled.
        let memberID: String
    }

    /// Makes the membership of a simulated or fake consumer. A real producer rejects it.
    package init(simulatedName: (any Sendable)? = nil) {
        metadata = nil
        name = nil
        self.simulatedName = simulatedName
    }

    /// - Parameter client: A consumer's client that has received an assignment.
    /// - Returns: `nil` if the client is in no generation, because the group has expelled it.
    convenience init?(of client: ClientHandle) {
        guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else { return nil }
        self.init(owning: metadata)
    }

    /// Takes ownership of `metadata`.
    /// - Returns: `nil` if it names no generation. Brokers do not fence offsets without a generation, so an expelled
    ///   member could commit for partitions that other members own.
    init?(owning metadata: OpaquePointer) {
        self.metadata = Shared(pointer: metadata)
        simulatedName = nil
        name = Self.name(in: metadata)
        if let name, name.generation < 0 { return nil }
    }

    /// Returns the name of a consumer's client, even if it is in no generation; `nil` if the running library does not
    /// provide it.
    static func name(of client: ClientHandle) -> Name? {
        guard let metadata = rd_kafka_consumer_group_metadata(client.pointer) else { return nil }
        defer { rd_kafka_consumer_group_metadata_destroy(metadata) }
        return name(in: metadata)
    }

    /// Reads generation and member id from librdkafka's serialized form, because no call returns the generation before
    /// 2.4.
    private static func name(in metadata: OpaquePointer) -> Name? {
        var (buffer, size): (UnsafeMutableRawPointer?, Int) = (nil, 0)
        if let error = rd_kafka_consumer_group_metadata_write(metadata, &buffer, &size) {
            rd_kafka_error_destroy(error)
            return nil
        }
        guard let buffer else { return nil }
        defer { rd_kafka_mem_free(nil, buffer) }

        return name(in: UnsafeRawBufferPointer(start: buffer, count: size))
    }

    /// Parses "CGMDv2:", the generation in native byte order, and the zero-terminated group and member ids.
    /// - Returns: `nil` for any other format.
    static func name(in bytes: UnsafeRawBufferPointer) -> Name? {
        let prefix = Array("CGMDv2:".utf8)
        guard bytes.count >= prefix.count + 4, bytes.starts(with: prefix) else { return nil }
        let generation = bytes.loadUnaligned(fromByteOffset: prefix.count, as: Int32.self)

        let texts = bytes.dropFirst(prefix.count + 4).split(
            separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard texts.count == 3 else { return nil }
        return Name(generation: generation, memberID: String(decoding: texts[1], as: UTF8.self))
    }

    deinit {
        if let metadata { rd_kafka_consumer_group_metadata_destroy(metadata.pointer) }
    }
}
