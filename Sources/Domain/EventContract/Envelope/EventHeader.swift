@_exported public import Basics

/// One header of an event's record. Basics is exported along with it, so that a file which reads headers need not import
/// the module that they share with Kafka's records.
public typealias EventHeader = RecordHeader

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
