// The members of a message as they stand in JSON. Those that are empty are left out.

extension LeaseMessage.Grant: Codable {
    private enum CodingKeys: String, CodingKey {
        case lessee = "to"
        case answering
        case share = "part"
    }

    /// - Throws: `DecodingError`, also for a share that is not within 0 and 1.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            lessee: try container.decode(String.self, forKey: .lessee),
            answering: try container.decode(UInt64.self, forKey: .answering),
            share: try container.decodeShare(forKey: .share))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lessee, forKey: .lessee)
        try container.encode(answering, forKey: .answering)
        try container.encode(share, forKey: .share)
    }
}

extension LeaseMessage.Limit: Codable {
    private enum CodingKeys: String, CodingKey {
        case demand = "need"
        case grants
        case acknowledged = "heeded"
        case returned
    }

    /// - Throws: `DecodingError`, also for a demand that is not within 0 and 1.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            demand: try container.decodeShare(forKey: .demand),
            grants: try container.decodeIfPresent([LeaseMessage.Grant].self, forKey: .grants) ?? [],
            acknowledged: try container.decodeIfPresent([String: UInt64].self, forKey: .acknowledged) ?? [:],
            returned: try container.decodeIfPresent([String: UInt64].self, forKey: .returned) ?? [:])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(demand, forKey: .demand)
        if !grants.isEmpty { try container.encode(grants, forKey: .grants) }
        if !acknowledged.isEmpty { try container.encode(acknowledged, forKey: .acknowledged) }
        if !returned.isEmpty { try container.encode(returned, forKey: .returned) }
    }
}

extension LeaseMessage: Codable {
    private enum CodingKeys: String, CodingKey {
        case sender, number, owned
        case partitionCount = "of"
        case limits
        case isLast = "last"
    }

    /// - Throws: `DecodingError`, also for numbers of partitions that cannot be.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            sender: try container.decode(String.self, forKey: .sender),
            number: try container.decode(UInt64.self, forKey: .number),
            owned: try container.decode(Int.self, forKey: .owned),
            partitionCount: try container.decode(Int.self, forKey: .partitionCount),
            limits: try container.decodeIfPresent([String: Limit].self, forKey: .limits) ?? [:],
            isLast: try container.decodeIfPresent(Bool.self, forKey: .isLast) ?? false)
        guard owned >= 0, partitionCount >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .owned, in: container, debugDescription: "a number of partitions is not negative")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(sender, forKey: .sender)
        try container.encode(number, forKey: .number)
        try container.encode(owned, forKey: .owned)
        try container.encode(partitionCount, forKey: .partitionCount)
        if !limits.isEmpty { try container.encode(limits, forKey: .limits) }
        if isLast { try container.encode(isLast, forKey: .isLast) }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a fraction of a limit: 0 to 1.
    fileprivate func decodeShare(forKey key: Key) throws -> Double {
        let share = try decode(Double.self, forKey: key)
        guard (0...1).contains(share) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a part of a limit is 0 to 1")
        }
        return share
    }
}
