import JSON
import LocationSearch

/// The members of a request that only some searches need. They are read out of line, so that other requests cost no more.
extension RequestMembers {
    /// Adds the options to a request.
    /// - Throws: the refusal of the first invalid member.
    @inline(never)
    func request(_ request: SearchRequest, with options: SearchOptions) throws(SearchError) -> SearchRequest {
        var request = request
        request.options = options
        if let first = options.categories.first {
            guard category == nil else {
                throw .invalid("categories", expected: "a request without category, because both were given")
            }
            request.category = SearchOptions.primaryType(of: first) ?? first
        }
        return try request.validated()
    }

    @inline(never)
    mutating func readRanking(from reader: inout JSONReader) throws(JSONError) {
        let names = Self.oneOf(SearchOptions.Ranking.allCases.map(\.rawValue))
        let ranking = try choice(of: "rankBy", expected: names, from: &reader) { name in
            (try? name.string()).flatMap(SearchOptions.Ranking.init)
        }
        change { $0.ranking = ranking }
    }

    @inline(never)
    mutating func readTypes(
        _ member: String, into list: WritableKeyPath<SearchOptions, [String]>, from reader: inout JSONReader
    ) throws(JSONError) {
        let types = try texts(of: member, expected: "an array of 1 to 50 types", from: &reader)
        // The length is checked later, but an empty array must not look like a missing one.
        if types?.isEmpty == true { refuse(member, expected: "an array of 1 to 50 types") }
        change { $0[keyPath: list] = types ?? [] }
    }

    @inline(never)
    mutating func readParts(from reader: inout JSONReader) throws(JSONError) {
        let expected = "an array with " + Self.oneOf(SearchOptions.Part.allCases.map(\.rawValue))
        let names = try texts(of: "include", expected: expected, from: &reader) ?? []
        let parts = names.compactMap(SearchOptions.Part.init)
        if parts.count < names.count { refuse("include", expected: expected) }
        change { $0.parts = Set(parts) }
    }

    private mutating func change(_ change: (inout SearchOptions) -> Void) {
        var changed = options ?? SearchOptions()
        change(&changed)
        options = changed
    }

    /// Reads an array of texts.
    /// - Returns: `nil` for `null`, and for a value that was refused.
    private mutating func texts(
        of member: String, expected: String, from reader: inout JSONReader
    ) throws(JSONError) -> [String]? {
        forget(member)
        if try reader.skipNull() { return nil }
        var (texts, isArray, areTexts) = ([String](), try reader.enterArray(), true)
        while isArray, try reader.nextElement() {
            if let text = try reader.text(), let text = try? text.string() {
                texts.append(text)
            } else {
                areTexts = false
            }
        }
        if isArray && areTexts { return texts }
        refuse(member, expected: expected)
        return nil
    }
}
