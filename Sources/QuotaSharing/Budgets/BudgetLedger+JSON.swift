internal import JSON

// The state of all budgets as it stands in JSON, its members in the order of their names.

extension BudgetLedger.Day {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("isWarned", isWarned)
        writer.member("limit", limit)
        writer.key("made")
        writer.object(of: made) { count, writer in writer.value(count) }
        writer.member("ordered", ordered)
        writer.member("since", since)
        writer.member("taken", taken)
        writer.member("touched", Int(touched))
        writer.endObject()
    }

    /// Numbers that no member would write are kept within their range.
    init(from reader: inout JSONReader) throws {
        var (taken, limit, ordered, touched) = (Int?.none, Int?.none, Int?.none, Int?.none)
        var (made, since, isWarned) = ([String: Int]?.none, String?.none, Bool?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "taken": taken = try reader.int()
            case "made": made = try reader.object { reader in try needed(reader.int()) }
            case "limit": limit = try reader.int()
            case "ordered": ordered = try reader.unlessNull { reader in try reader.int() }
            case "since": since = try reader.unlessNull { reader in try reader.string() }
            case "isWarned": isWarned = try reader.bool()
            case "touched": touched = try reader.int()
            default: try reader.skip()
            }
        }

        self.init(limit: BudgetLedger.bounded(try needed(limit)))
        self.taken = BudgetLedger.bounded(try needed(taken))
        for (kind, count) in try needed(made).prefix(BudgetLedger.mostKinds) {
            self.made[kind] = BudgetLedger.bounded(count)
        }
        self.ordered = ordered.map { BudgetLedger.bounded($0) }
        self.since = since
        self.isWarned = try needed(isWarned)
        self.touched = Int64(try needed(touched))
    }
}

extension BudgetLedger.NewestMessage {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("number", Int(clamping: number))
        writer.member("offset", Int(offset))
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (number, offset) = (UInt64?.none, Int?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "number": number = try reader.messageNumber()
            case "offset": offset = try reader.int()
            default: try reader.skip()
            }
        }
        self.init(number: try needed(number), offset: Int64(try needed(offset)))
    }
}

extension BudgetLedger {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("cleaned", Int(cleaned))
        writer.key("days")
        writer.object(of: days) { days, writer in
            writer.object(of: days) { day, writer in day.write(to: &writer) }
        }
        writer.key("heard")
        writer.object(of: newestMessages) { message, writer in message.write(to: &writer) }
        writer.key("renewed")
        writer.object(of: renewed) { name, writer in writer.value(name) }
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (days, renewed) = ([String: [String: Day]]?.none, [String: String]?.none)
        var (newestMessages, cleaned) = ([String: NewestMessage]?.none, Int?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "days":
                days = try reader.object { reader in try reader.object { reader in try Day(from: &reader) } }
            case "renewed": renewed = try reader.object { reader in try needed(reader.string()) }
            case "heard": newestMessages = try reader.object { reader in try NewestMessage(from: &reader) }
            case "cleaned": cleaned = try reader.int()
            default: try reader.skip()
            }
        }

        self.init()
        self.days = try needed(days)
        self.renewed = try needed(renewed)
        self.newestMessages = try needed(newestMessages)
        self.cleaned = Int64(try needed(cleaned))
    }
}
