@_exported public import Basics

/// One header of an event's record. Basics is re-exported, so that a file which reads headers need not import the module
/// that it shares with Kafka's records.
public typealias EventHeader = RecordHeader

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
