internal import Foundation
internal import Resilience

/// The messages of the fleet topic as bytes: JSON, so that any consumer can show them.
public enum FleetCodec {
    public static func bytes(of message: FleetMessage) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Messages hold finite numbers and texts, which can always be encoded.
        return (try? encoder.encode(message)).map { Array($0) } ?? []
    }

    /// Decodes a record's message; `nil` for a record without one, and for a message of a later version.
    public static func message(_ bytes: [UInt8]) -> FleetMessage? {
        try? JSONDecoder().decode(FleetMessage.self, from: Data(bytes))
    }
}
