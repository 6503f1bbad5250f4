internal import Foundation
internal import Resilience

/// The words of the fleet's topic as bytes: JSON, so that any consumer shows what members say.
public enum FleetCodec {
    public static func bytes(of message: FleetMessage) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Words have numbers that are finite and texts, which always can be encoded.
        return (try? encoder.encode(message)).map { Array($0) } ?? []
    }

    /// Returns what a record says; `nil` for one that is no word, or one of a later version.
    public static func message(_ bytes: [UInt8]) -> FleetMessage? {
        try? JSONDecoder().decode(FleetMessage.self, from: Data(bytes))
    }
}
