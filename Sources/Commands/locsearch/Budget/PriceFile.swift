import LocationSearch

extension Settings {
    /// Returns the prices of calls: those of `prices.file`, otherwise Google's list prices.
    /// - Throws: `SettingsError` that names the file and the place of a fault in it.
    func prices() throws(SettingsError) -> PriceList {
        guard let path = self["prices.file"] else { return .google }
        do throws(SettingsError) {
            return try PriceFile(SettingsTree(text: try SettingsFile.text(at: path), path: path), path: path).list
        } catch {
            throw SettingsError("prices.file: \(error)")
        }
    }
}

/// The file of the setting `prices.file`, in YAML or JSON like a settings file.
private struct PriceFile {
    private(set) var list = PriceList(date: "", source: "", currency: "", entries: [:])
    private let path: String

    init(_ tree: SettingsTree, path: String) throws(SettingsError) {
        self.path = path
        for leaf in tree.leaves {
            if let expected = read(leaf) {
                throw SettingsError("\(path), line \(leaf.line): \(leaf.name): expected \(expected)")
            }
        }
        if list.date.isEmpty || list.source.isEmpty || list.currency.isEmpty {
            throw SettingsError("\(path): date, source or currency is missing")
        }
        for priceClass in PriceClass.allCases where PriceList.google.hasPrice(priceClass) {
            try check(list.entries[priceClass]?.tiers ?? [], of: priceClass)
        }
        let bundled = list.bundles.flatMap(\.priceClasses)
        if Set(bundled).count < bundled.count || list.bundles.contains(where: { $0.callsPerMonth == 0 }) {
            throw SettingsError("\(path): bundles: expected callsPerMonth in each, and an SKU in one bundle only")
        }
    }

    /// Takes one value of the file.
    /// - Returns: what is expected in its place; `nil` if it is valid.
    private mutating func read(_ leaf: SettingsTree.Leaf) -> String? {
        let names = leaf.name.split(separator: ".").map(String.init)
        switch (names.count, names.first) {
        case (1, "date"): list.date = leaf.text
        case (1, "source"): list.source = leaf.text
        case (1, "currency"): list.currency = leaf.text
        case (3..., "skus"):
            guard let priceClass = PriceClass(rawValue: names[1]) else { return Self.names }
            var entry = list.entries[priceClass] ?? PriceList.Entry(freeCallsPerMonth: 0, tiers: [])
            switch (names.count, names[2]) {
            case (3, "freeCallsPerMonth"):
                guard let calls = Self.calls(leaf.text) else { return Self.numberOfCalls }
                entry.freeCallsPerMonth = calls
            case (4, "prices"):
                guard let call = Self.calls(names[3]) else { return "\(Self.numberOfCalls) as its name" }
                guard let price = Self.millionths(leaf.text, of: 1000) else { return Self.amount }
                entry.tiers.append(PriceList.Tier(fromCall: call, price: price))
                entry.tiers.sort { $0.fromCall < $1.fromCall }
            default: return "freeCallsPerMonth, or prices with a mapping"
            }
            list.entries[priceClass] = entry
        case (3, "bundles"): return readBundle(names[1], member: names[2], text: leaf.text)
        case (2, "quota") where names[1] == "date": list.quota.date = leaf.text
        case (2, "quota") where names[1] == "source": list.quota.source = leaf.text
        case (3, "quota") where names[1] == "callsPerMinute":
            guard let method = ProviderMethod(rawValue: names[2]) else { return Self.methods }
            guard let calls = Self.calls(leaf.text) else { return Self.numberOfCalls }
            list.quota.callsPerMinute[method] = calls
        default: return "date, source, currency, skus, bundles or quota"
        }
        return nil
    }

    private mutating func readBundle(_ name: String, member: String, text: String) -> String? {
        let index = list.bundles.firstIndex { $0.name == name } ?? list.bundles.endIndex
        if index == list.bundles.endIndex {
            list.bundles.append(PriceList.Allowance(name: name, callsPerMonth: 0, priceClasses: []))
        }
        switch member {
        case "callsPerMonth":
            guard let calls = Self.calls(text) else { return Self.numberOfCalls }
            list.bundles[index].callsPerMonth = calls
        case "pricePerMonth":
            guard let price = Self.millionths(text, of: 1) else { return Self.amount }
            list.bundles[index].pricePerMonth = price
        case "skus":
            let names = text.split(separator: ",")
            list.bundles[index].priceClasses = names.compactMap { PriceClass(rawValue: String($0)) }
            if list.bundles[index].priceClasses.count < names.count { return Self.names }
        default: return "callsPerMonth, pricePerMonth or skus"
        }
        return nil
    }

    private func check(_ tiers: [PriceList.Tier], of priceClass: PriceClass) throws(SettingsError) {
        let areFalling = zip(tiers, tiers.dropFirst()).allSatisfy { $0.fromCall < $1.fromCall && $0.price >= $1.price }
        guard tiers.first?.fromCall != 1 || !areFalling else { return }
        throw SettingsError(
            "\(path): skus.\(priceClass.rawValue).prices: expected a price from call 1 on, never rising")
    }

    private static let names = "one of " + PriceClass.allCases.map(\.rawValue).joined(separator: ", ")
    private static let methods = "one of " + ProviderMethod.allCases.map(\.rawValue).joined(separator: ", ")
    private static let numberOfCalls = "an integer from 0 to 1000000000"
    private static let amount = "a number from 0 to 1000000"

    private static func calls(_ text: String) -> Int? {
        Int(text).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
    }

    /// Reads the price of a number of calls, in units of the currency, as millionths for one.
    private static func millionths(_ text: String, of count: Double) -> Int? {
        guard let price = Double(text), (0...1_000_000).contains(price) else { return nil }
        return Int((price * (1_000_000 / count)).rounded())  // bounded: at most 10^12, exact for six digits
    }
}
