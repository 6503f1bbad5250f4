// The members of a message as they stand in JSON. Those that are empty are left out.

extension FleetMessage.Grant: Codable {
    private enum CodingKeys: String, CodingKey {
        case borrower = "to"
        case answering, part
    }

    /// - Throws: `DecodingError`, also for a part that is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            borrower: try container.decode(String.self, forKey: .borrower),
            answering: try container.decode(UInt64.self, forKey: .answering),
            part: try container.decodePart(forKey: .part))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(borrower, forKey: .borrower)
        try container.encode(answering, forKey: .answering)
        try container.encode(part, forKey: .part)
    }
}

extension FleetMessage.Limit: Codable {
    private enum CodingKeys: String, CodingKey {
        case need, grants, heeded, returned
    }

    /// - Throws: `DecodingError`, also for a need that is no part.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            need: try container.decodePart(forKey: .need),
            grants: try container.decodeIfPresent([FleetMessage.Grant].self, forKey: .grants) ?? [],
            heeded: try container.decodeIfPresent([String: UInt64].self, forKey: .heeded) ?? [:],
            returned: try container.decodeIfPresent([String: UInt64].self, forKey: .returned) ?? [:])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(need, forKey: .need)
        if !grants.isEmpty { try container.encode(grants, forKey: .grants) }
        if !heeded.isEmpty { try container.encode(heeded, forKey: .heeded) }
        if !returned.isEmpty { try container.encode(returned, forKey: .returned) }
    }
}

extension FleetMessage: Codable {
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
    /// Decodes a part of a limit: 0 to 1.
    fileprivate func decodePart(forKey key: Key) throws -> Double {
        let part = try decode(Double.self, forKey: key)
        guard (0...1).contains(part) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "a part of a limit is 0 to 1")
        }
        return part
    }
}
