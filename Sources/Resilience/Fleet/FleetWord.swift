/// One record of the fleet's topic: an object with one member, which says what it is about.
public enum FleetWord: Sendable, Hashable {
    /// What a member says of the limits that are shared by demand.
    case shares(FleetMessage)
}

extension FleetWord: Codable {
    private enum CodingKeys: String, CodingKey {
        case shares
    }

    /// - Throws: `DecodingError` for what is no word, or one of a later version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self = .shares(try container.decode(FleetMessage.self, forKey: .shares))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .shares(let message): try container.encode(message, forKey: .shares)
        }
    }
}

/// A word as it stands in the topic.
public struct FleetRecord: Sendable, Hashable {
    /// The record's place in the topic's only partition. All members read the words in this order.
    public var offset: Int64
    /// True for what was in the topic before this process began to read it.
    public var isOld: Bool
    public var word: FleetWord

    public init(offset: Int64, isOld: Bool = false, word: FleetWord) {
        self.offset = offset
        self.isOld = isOld
        self.word = word
    }
}
