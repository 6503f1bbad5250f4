extension SearchRequest {
    /// Checks every member against the contract's ranges.
    /// - Throws: `invalid-request` with the first member out of range and its expected range.
    public consuming func validated() throws(SearchError) -> SearchRequest {
        try Self.check("requestId", requestID, length: 1...128)
        // First, because `category` may be one of its categories.
        if hasOptions { try Self.check(options, category: category) }
        try Self.check("category", category, length: 1...64)
        try Self.check("keyword", keyword, length: 1...256)
        try Self.check("language", language, length: 1...35)
        if let language, !Self.isLanguageTag(language) {
            throw .invalid("language", expected: "a BCP 47 language tag such as \"ja\" or \"zh-TW\"")
        }
        try Self.check("pageToken", pageToken, length: Self.pageTokenLength)
        try Self.check("sessionId", sessionID, length: 1...128)
        try Self.check("placeId", placeID, length: 1...512)
        guard (1...50_000).contains(radiusMeters) else {
            throw .invalid("radiusMeters", expected: "a number from 1 to 50000")
        }
        guard (1...100).contains(limit) else { throw .invalid("limit", expected: "an integer from 1 to 100") }
        if let timeout, !(.milliseconds(1) ... .seconds(60)).contains(timeout) {
            throw .invalid("timeoutMs", expected: "an integer from 1 to 60000")
        }
        switch operation {
        case .search:
            guard let location else { throw .invalid("location", expected: "an object with latitude and longitude") }
            guard location.latitude.magnitude <= 90 else {
                throw .invalid("location.latitude", expected: "a finite number from -90 to 90")
            }
            guard location.longitude.magnitude <= 180 else {
                throw .invalid("location.longitude", expected: "a finite number from -180 to 180")
            }
        case .details, .photo:
            guard placeID != nil else {
                throw .invalid("placeId", expected: "the id of a place, for \(operation.rawValue)")
            }
        }
        return self
    }

    @inline(never)
    private static func check(_ options: SearchOptions, category: String) throws(SearchError) {
        for (member, list) in [("categories", options.categories), ("excludeCategories", options.excludedCategories)] {
            let areFull = list.allSatisfy { $0 != SearchOptions.primaryPrefix }
            guard list.count <= 50, areFull else { throw .invalid(member, expected: "an array of 1 to 50 types") }
            for type in list { try check(member, type, length: 1...64) }
        }

        let primaries = options.categories.count { SearchOptions.primaryType(of: $0) != nil }
        guard primaries == 0 || primaries == options.categories.count else {
            throw .invalid(
                "categories", expected: "the prefix \"\(SearchOptions.primaryPrefix)\" in all types or in none")
        }
        let wanted = options.categories.isEmpty ? [category] : options.categories
        guard !options.excludedCategories.contains(where: wanted.contains) else {
            throw .invalid("excludeCategories", expected: "only types that the search does not ask for")
        }
    }

    /// Characters are Unicode scalars, as in JSON Schema's `maxLength`; for ASCII they are bytes.
    private static func check(_ member: String, _ text: String?, length: ClosedRange<Int>) throws(SearchError) {
        guard let text else { return }
        let bytes = text.utf8.count
        // A scalar takes 1 to 4 bytes: only texts near the limit need counting.
        let fits =
            bytes <= length.upperBound
            ? bytes >= length.lowerBound
            : bytes <= 4 * length.upperBound && text.unicodeScalars.count <= length.upperBound
        guard fits else {
            throw .invalid(member, expected: "text of \(length.lowerBound) to \(length.upperBound) characters")
        }
    }

    /// The shape of BCP 47 (RFC 5646, section 2.1): subtags of 1 to 8 letters or digits, joined by hyphens, letters first.
    private static func isLanguageTag(_ text: String) -> Bool {
        let text = text.utf8.span
        var (isFirst, length) = (true, 0)
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: "-") {
                guard length > 0 else { return false }
                (isFirst, length) = (false, 0)
                continue
            }

            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            length += 1
            guard isLetter || (isDigit && !isFirst), length <= 8 else { return false }
        }
        return length > 0
    }
}
