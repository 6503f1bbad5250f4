internal import JSON

/// Encodes and decodes the messages of the fleet topic. They are JSON, so that any consumer can display them.
///
/// A message is an object with one member, whose name is the message's kind.
public enum FleetCodec {
    public static func bytes(of message: FleetMessage) -> [UInt8] {
        JSONWriter.object(capacity: 512) { writer in
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

    /// Decodes a record's message; `nil` for a record without one, and for a message of a later version.
    public static func message(_ bytes: [UInt8]) -> FleetMessage? {
        var reader = JSONReader(bytes.span)
        guard let message = try? reader.fleetMessage(), (try? reader.finish()) != nil else { return nil }
        return message
    }
}

extension JSONReader {
    fileprivate mutating func fleetMessage() throws -> FleetMessage {
        var message: FleetMessage?
        try enterMessage()
        while let key = try nextKey() {
            switch key {
            case "shares": message = .shares(try LeaseMessage(from: &self))
            case "budget": message = .budget(try BudgetMessage(from: &self))
            case "control": message = .control(try ControlMessage(from: &self))
            default: try skip()
            }
        }
        return try needed(message)
    }
}
