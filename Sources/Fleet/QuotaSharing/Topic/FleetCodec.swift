internal import JSON

/// Encodes and decodes the messages of one fleet: the workers with one consumer group and one requests topic.
///
/// A message is a JSON object, so that any consumer can display it. It has two members: the fleet, and the content,
/// whose name is the message's kind. Several fleets may share a topic; messages of other fleets are ignored.
public struct FleetCodec: Sendable {
    /// The name of the fleet.
    let fleet: String

    public init(fleet: String) { self.fleet = fleet }

    public func bytes(of message: FleetMessage) -> [UInt8] {
        JSONWriter.object(capacity: 512) { writer in
            writer.member("fleet", fleet)
            switch message {
            case .shares(let message):
                writer.key("shares")
                message.write(to: &writer)
            case .budget(let message):
                writer.key("budget")
                message.write(to: &writer)
            case .control(let message):
                writer.key("control")
                message.write(to: &writer)
            }
        }
    }

    /// Decodes a record's message; `nil` for a record without one, and for a message of another fleet or a later
    /// version.
    public func message(_ bytes: [UInt8]) -> FleetMessage? {
        var reader = JSONReader(bytes.span)
        guard let message = try? reader.message(of: fleet), (try? reader.finish()) != nil else { return nil }
        return message
    }
}

extension JSONReader {
    /// Reads a message.
    /// - Throws: an error for a message of another fleet, whose content is not read if the fleet precedes it.
    fileprivate mutating func message(of fleet: String) throws -> FleetMessage {
        var (message, isOwn) = (nil as FleetMessage?, false)
        try enterMessage()
        while let key = try nextKey() {
            switch key {
            case "fleet":
                isOwn = try String(from: &self) == fleet
                if !isOwn { throw UnknownFleetMessage() }
            case "shares": message = .shares(try LeaseMessage(from: &self))
            case "budget": message = .budget(try BudgetMessage(from: &self))
            case "control": message = .control(try ControlMessage(from: &self))
            default: try skip()
            }
        }
        return try needed(isOwn ? message : nil)
    }
}
