/// One record of the fleet's topic: an object with one member, which says what it is about.
public enum FleetMessage: Sendable, Hashable {
    /// What a member says of the limits that are shared by demand.
    case shares(LeaseMessage)
    /// What a member or a person says of daily budgets.
    case budget(BudgetMessage)
}

extension FleetMessage: Codable {
    private enum CodingKeys: String, CodingKey {
        case shares, budget
    }

    /// - Throws: `DecodingError` for what is no word, or one of a later version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let message = try container.decodeIfPresent(BudgetMessage.self, forKey: .budget) {
            self = .budget(message)
        } else {
            self = .shares(try container.decode(LeaseMessage.self, forKey: .shares))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .shares(let message): try container.encode(message, forKey: .shares)
        case .budget(let message): try container.encode(message, forKey: .budget)
        }
    }
}

/// A word as it stands in the topic.
public struct FleetRecord: Sendable, Hashable {
    /// The record's place in the topic's only partition. All members read the words in this order.
    public var offset: Int64
    /// True for what was in the topic before this process began to read it.
    public var isOld: Bool
    /// What it says; `nil` for a record that is no word, or one of a later version, and where the topic is read up to this
    /// offset without a record there, as at the end of a transaction.
    public var message: FleetMessage?

    public init(offset: Int64, isOld: Bool = false, message: FleetMessage?) {
        self.offset = offset
        self.isOld = isOld
        self.message = message
    }
}

/// What the fleet's topic holds when a process begins to read it.
public struct FleetTopicExtent: Sendable, Hashable {
    /// The offset of the first record to come; `end` where there is none.
    public var first: Int64
    /// One past the newest record there is.
    public var end: Int64
    /// The offset of the oldest record there is.
    public var oldest: Int64
    /// True when the topic was deleted and made again since it was read last.
    public var isRemade: Bool

    public init(first: Int64, end: Int64, oldest: Int64, isRemade: Bool = false) {
        self.first = first
        self.end = end
        self.oldest = oldest
        self.isRemade = isRemade
    }
}
