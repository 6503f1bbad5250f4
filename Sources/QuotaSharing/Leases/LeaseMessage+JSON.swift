internal import JSON

// The members of a message as they stand in JSON, in the order of their names. Those that are empty are left out.

extension LeaseMessage.Grant {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("answering", Int(clamping: answering))
        writer.key("part")
        writer.value(share: share)
        writer.member("to", lessee)
        writer.endObject()
    }

    /// - Throws: also for a share that is not within 0 and 1.
    init(from reader: inout JSONReader) throws {
        var (lessee, answering, share) = (String?.none, UInt64?.none, Double?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "to": lessee = try reader.string()
            case "answering": answering = try reader.messageNumber()
            case "part": share = try reader.share()
            default: try reader.skip()
            }
        }
        self.init(lessee: try needed(lessee), answering: try needed(answering), share: try needed(share))
    }
}

extension LeaseMessage.Limit {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if !grants.isEmpty {
            writer.key("grants")
            writer.array(of: grants) { grant, writer in grant.write(to: &writer) }
        }
        if !acknowledged.isEmpty {
            writer.key("heeded")
            writer.object(of: acknowledged) { number, writer in writer.value(Int(clamping: number)) }
        }
        writer.key("need")
        writer.value(share: demand)
        if !returned.isEmpty {
            writer.key("returned")
            writer.object(of: returned) { number, writer in writer.value(Int(clamping: number)) }
        }
        writer.endObject()
    }

    /// - Throws: also for a demand that is not within 0 and 1.
    init(from reader: inout JSONReader) throws {
        var demand: Double?
        var grants: [LeaseMessage.Grant]?
        var (acknowledged, returned) = ([String: UInt64]?.none, [String: UInt64]?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "need": demand = try reader.share()
            case "grants": grants = try reader.arrayUnlessNull { reader in try LeaseMessage.Grant(from: &reader) }
            case "heeded": acknowledged = try reader.objectUnlessNull { reader in try reader.messageNumber() }
            case "returned": returned = try reader.objectUnlessNull { reader in try reader.messageNumber() }
            default: try reader.skip()
            }
        }
        self.init(
            demand: try needed(demand), grants: grants ?? [], acknowledged: acknowledged ?? [:],
            returned: returned ?? [:])
    }
}

extension LeaseMessage {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if isLast { writer.member("last", isLast) }
        if !limits.isEmpty {
            writer.key("limits")
            writer.object(of: limits) { limit, writer in limit.write(to: &writer) }
        }
        writer.member("number", Int(clamping: number))
        writer.member("of", partitionCount)
        writer.member("owned", owned)
        writer.member("sender", sender)
        writer.endObject()
    }

    /// - Throws: also for numbers of partitions that cannot be.
    init(from reader: inout JSONReader) throws {
        var (sender, number) = (String?.none, UInt64?.none)
        var (owned, partitionCount, isLast) = (Int?.none, Int?.none, Bool?.none)
        var limits: [String: Limit]?
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "sender": sender = try reader.string()
            case "number": number = try reader.messageNumber()
            case "owned": owned = try reader.int()
            case "of": partitionCount = try reader.int()
            case "limits": limits = try reader.objectUnlessNull { reader in try Limit(from: &reader) }
            case "last": isLast = try reader.unlessNull { reader in try reader.bool() }
            default: try reader.skip()
            }
        }
        self.init(
            sender: try needed(sender), number: try needed(number), owned: try needed(owned),
            partitionCount: try needed(partitionCount), limits: limits ?? [:], isLast: isLast ?? false)
        guard self.owned >= 0, self.partitionCount >= 0 else { throw UnknownFleetMessage() }
    }
}

extension JSONWriter {
    /// Writes a fraction of a limit. Small ones have an exponent, as in messages of every version before.
    fileprivate mutating func value(share: Double) {
        if share > 0, share < 0.0001 { value(json: share.description.utf8.span) } else { value(share) }
    }
}

extension JSONReader {
    /// Reads a fraction of a limit: 0 to 1.
    fileprivate mutating func share() throws -> Double {
        let share = try needed(double())
        guard (0...1).contains(share) else { throw UnknownFleetMessage() }
        return share
    }
}
