internal import JSON

// The members of a message as they stand in JSON, in the order of their names.

extension BudgetMessage.Entry {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("day", day)
        writer.member("fleet", fleet)
        writer.member("giveBack", giveBack)
        writer.member("key", key)
        writer.member("limit", limit)
        writer.key("made")
        writer.object(of: made) { count, writer in writer.value(count) }
        writer.member("provider", provider)
        writer.member("take", take)
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (provider, fleet, accountKey, day) = (String?.none, String?.none, String?.none, String?.none)
        var (limit, take, giveBack) = (Int?.none, Int?.none, Int?.none)
        var made: [String: Int]?
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "provider": provider = try reader.string()
            case "fleet": fleet = try reader.unlessNull { reader in try reader.string() }
            case "key": accountKey = try reader.unlessNull { reader in try reader.string() }
            case "day": day = try reader.string()
            case "limit": limit = try reader.int()
            case "take": take = try reader.int()
            case "giveBack": giveBack = try reader.int()
            case "made": made = try reader.object { reader in try needed(reader.int()) }
            default: try reader.skip()
            }
        }
        self.init(
            QuotaScope(provider: try needed(provider)), day: try needed(day), limit: try needed(limit),
            take: try needed(take), giveBack: try needed(giveBack), made: try needed(made))
        // As they stand there: a scope has no key without a fleet.
        (self.fleet, key) = (fleet, accountKey)
    }
}

extension BudgetMessage.Renewal {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("fleet", fleet)
        writer.member("new", new)
        writer.member("old", old)
        writer.member("provider", provider)
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (provider, fleet, old, new) = (String?.none, String?.none, String?.none, String?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "provider": provider = try reader.string()
            case "fleet": fleet = try reader.unlessNull { reader in try reader.string() }
            case "old": old = try reader.string()
            case "new": new = try reader.string()
            default: try reader.skip()
            }
        }
        self.init(provider: try needed(provider), fleet: fleet, old: try needed(old), new: try needed(new))
    }
}

extension BudgetMessage.Order {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("day", day)
        writer.member("fleet", fleet)
        writer.member("isReset", isReset)
        writer.member("limit", limit)
        writer.member("provider", provider)
        writer.member("time", time)
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (provider, fleet, day, time) = (String?.none, String?.none, String?.none, String?.none)
        var (limit, isReset) = (Int?.none, Bool?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "provider": provider = try reader.string()
            case "fleet": fleet = try reader.unlessNull { reader in try reader.string() }
            case "day": day = try reader.string()
            case "limit": limit = try reader.unlessNull { reader in try reader.int() }
            case "isReset": isReset = try reader.bool()
            case "time": time = try reader.string()
            default: try reader.skip()
            }
        }
        self.init(
            provider: try needed(provider), fleet: fleet, day: try needed(day), limit: limit,
            isReset: try needed(isReset), time: try needed(time))
    }
}

extension BudgetMessage.Question {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("fleet", fleet)
        writer.member("provider", provider)
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (provider, fleet) = (String?.none, String?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "provider": provider = try reader.string()
            case "fleet": fleet = try reader.string()
            default: try reader.skip()
            }
        }
        self.init(provider: try needed(provider), fleet: try needed(fleet))
    }
}

extension BudgetMessage.Base {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("ledger")
        ledger.write(to: &writer)
        writer.member("offset", Int(offset))
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (offset, ledger) = (Int?.none, BudgetLedger?.none)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "offset": offset = try reader.int()
            case "ledger": ledger = try BudgetLedger(from: &reader)
            default: try reader.skip()
            }
        }
        self.init(offset: Int64(try needed(offset)), ledger: try needed(ledger))
    }
}

extension BudgetMessage {
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("answers", answers)
        writer.key("entries")
        writer.array(of: entries) { entry, writer in entry.write(to: &writer) }
        writer.member("number", Int(clamping: number))
        if let order {
            writer.key("order")
            order.write(to: &writer)
        }
        if let question {
            writer.key("question")
            question.write(to: &writer)
        }
        if let renewals {
            writer.key("renewals")
            writer.array(of: renewals) { renewal, writer in renewal.write(to: &writer) }
        }
        writer.member("sender", sender)
        // Workers of versions that know no scopes read `base`, and would take this state for theirs.
        if let base {
            writer.key("state")
            base.write(to: &writer)
        }
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        var (sender, number, entries) = (String?.none, UInt64?.none, [Entry]?.none)
        var message = BudgetMessage(sender: "", number: 0)
        try reader.enterMessage()
        while let key = try reader.nextKey() {
            switch key {
            case "sender": sender = try reader.string()
            case "number": number = try reader.messageNumber()
            case "entries": entries = try reader.array { reader in try Entry(from: &reader) }
            case "order": message.order = try reader.unlessNull { reader in try Order(from: &reader) }
            case "state": message.base = try reader.unlessNull { reader in try Base(from: &reader) }
            case "renewals": message.renewals = try reader.arrayUnlessNull { reader in try Renewal(from: &reader) }
            case "question": message.question = try reader.unlessNull { reader in try Question(from: &reader) }
            case "answers": message.answers = try reader.unlessNull { reader in try reader.string() }
            default: try reader.skip()
            }
        }
        (message.sender, message.number, message.entries) = (
            try needed(sender), try needed(number), try needed(entries)
        )
        self = message
    }
}
