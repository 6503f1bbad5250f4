import EventContract
import SimulatedKafka

/// Encodes requests as their producers do, and reads outcomes as their readers do.
enum RequestRecord {
    static func make(_ request: FleetPlan.Request, at time: Int64) -> SimulatedRecord {
        var headers: [SimulatedHeader] = []
        if let lifetime = request.lifetime {
            let expiry = WallTime(milliseconds: time / 1_000_000 + Int64(lifetime * 1000))
            for (name, value) in [
                ("ce_specversion", "1.0"), ("ce_id", "r\(request.number)"), ("ce_source", "/simulation"),
                ("ce_type", "location-search.requested.v1"), ("content-type", "application/json"),
                ("ce_expirytime", "\(expiry)"),
            ] { headers.append(SimulatedHeader(name, Array(value.utf8))) }
        }
        if let tenant = request.tenant { headers.append(SimulatedHeader("tenant", Array(tenant.utf8))) }
        let priority = request.requestClass == .batch ? "\"priority\":\"batch\"," : ""
        let session = request.session.map { "\"sessionId\":\"\($0)\"," } ?? ""
        let value = """
            {"requestId":"r\(request.number)",\(priority)\(session)"provider":"\(request.provider)","keyword":"\(request.keyword)",\
            "location":{"latitude":35.69,"longitude":139.7}}
            """
        return SimulatedRecord(
            key: Array(request.key.utf8),
            value: Array((request.isValid ? value : "no request").utf8)
                + [UInt8](repeating: UInt8(ascii: "."), count: request.padding),
            headers: headers, timestamp: time)
    }

    /// Returns the number of the request that an outcome answers, from its `requestId`; `nil` if it has none.
    static func number(of record: SimulatedRecord) -> Int? {
        guard let value = record.value else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        guard let range = text.firstRange(of: "\"requestId\":\"r") else { return nil }
        return Int(text[range.upperBound...].prefix { $0.isNumber })
    }

    /// Returns the partition and offset of the request that an outcome answers, from its headers.
    static func source(of record: SimulatedRecord) -> (partition: PartitionID, offset: Int64)? {
        var (topic, partition, offset) = (String?.none, Int32?.none, Int64?.none)
        for header in record.headers {
            guard let value = header.value else { continue }
            // By length first, because comparing long names is slow.
            switch header.name.utf8.count {
            case 12 where header.name == "source-topic": topic = String(decoding: value, as: UTF8.self)
            case 16 where header.name == "source-partition": partition = number(value).flatMap { Int32(exactly: $0) }
            case 13 where header.name == "source-offset": offset = number(value)
            default: break
            }
        }
        guard let topic, let partition, let offset else { return nil }
        return (PartitionID(topic, partition), offset)
    }

    /// Parses a number that consists of digits only.
    private static func number(_ text: [UInt8]) -> Int64? {
        var number: Int64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number < 1 << 56 else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return text.isEmpty ? nil : number
    }
}
