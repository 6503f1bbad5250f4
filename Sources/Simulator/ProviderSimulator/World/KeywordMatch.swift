/// The words of a search as bit sets, so that matching a place takes a few instructions and reads no text.
struct KeywordMatch {
    /// One word of the search. A place matches if one of its properties is in one of these sets.
    struct Word {
        var categories: Category.Mask = 0
        var heads: UInt32 = 0
        var cores: UInt32 = 0
        var towns: UInt32 = 0
        var districts: UInt32 = 0
        /// The stations of each town, one bit each.
        var stations: [UInt8] = []

        /// True if the word matches no place.
        var isEmpty: Bool {
            categories == 0 && heads == 0 && cores == 0 && towns == 0 && districts == 0
                && stations.allSatisfy { $0 == 0 }
        }

        func matches(_ place: SimulatedPlace, in cell: Cell) -> Bool {
            categories >> UInt32(place.category) & 1 == 1
                || place.kind.isFood && (heads >> UInt32(place.head) & 1 == 1 || cores >> UInt32(place.core) & 1 == 1)
                || towns >> UInt32(cell.town) & 1 == 1 || districts >> UInt32(cell.district) & 1 == 1
                || !stations.isEmpty && stations[cell.town] >> UInt8(cell.station) & 1 == 1
        }
    }

    let words: [Word]

    /// Returns true if every word matches.
    func matches(_ place: SimulatedPlace, in cell: Cell) -> Bool {
        for word in words where !word.matches(place, in: cell) { return false }
        return true
    }

    /// Fails for a text without words to search for.
    /// - Parameter lenient: true to drop words that match no place, unless all do, as in Google's text search.
    init?(_ text: String, lenient: Bool) {
        let words = Self.tokens(text).prefix(20).map(Self.word)
        guard !words.isEmpty else { return nil }
        let known = lenient ? words.filter { !$0.isEmpty } : words
        self.words = known.isEmpty ? words : known
    }

    /// Returns the words in lower case, separated by blanks (also U+3000), commas and plus signs. Words with `fault:`
    /// or `tag:` are omitted, because they are instructions for the simulator.
    static func tokens(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "\u{3000}" || $0 == "," || $0 == "+" }
            .map { $0.lowercased() }
            .filter { !$0.hasPrefix("fault:") && !$0.hasPrefix("tag:") && !fillers.contains($0) }
    }

    private static let fillers: Set<String> = ["in", "near", "around", "the", "a", "best", "の", "で", "に"]
    private static let everyFood: Set<String> = ["restaurant", "restaurants", "food", "レストラン", "食事", "グルメ", "飲食店"]

    private static func word(_ token: String) -> Word {
        var word = Word()
        let bytes = Array(token.utf8)

        if everyFood.contains(token) { word.categories = Category.foodMask }
        for (index, keywords) in index.categories.enumerated() where keywords.contains(where: { $0.contains(bytes) }) {
            word.categories |= 1 << Category.Mask(index)
        }

        word.heads = mask(of: index.heads, containing: bytes)
        word.cores = mask(of: index.cores, containing: bytes)
        word.districts = mask(of: index.districts, containing: bytes)
        word.towns = mask(of: index.towns, containing: bytes)
        word.stations = index.stations.map { mask(of: $0, containing: bytes) }
        return word
    }

    private static func mask<Mask: FixedWidthInteger>(of texts: [[UInt8]], containing part: [UInt8]) -> Mask {
        texts.indices.reduce(0) { texts[$1].contains(part) ? $0 | 1 << Mask($1) : $0 }
    }

    /// All searchable texts, in lower case, as bytes.
    private struct Index {
        let categories = Category.all.map { kind in
            ([kind.japanese, kind.english] + kind.keywords).map { Array($0.lowercased().utf8) }
        }
        let heads = Lexicon.heads.map { Index.text($0) }
        let cores = Lexicon.cores.map { Index.text($0) }
        let districts = Lexicon.districts.map { Index.text($0) }
        let towns = Town.all.map { town in
            Array(
                "\(town.prefecture.japanese)\n\(town.prefecture.english)\n\(town.city.japanese)\n\(town.city.english)"
                    .lowercased().utf8)
        }
        let stations = Town.all.map { town in
            town.stations.map { Array("\($0.japanese)\n\($0.english)".lowercased().utf8) }
        }

        static func text(_ word: Lexicon.Word) -> [UInt8] {
            Array("\(word.japanese)\n\(word.kana)\n\(word.english)".lowercased().utf8)
        }
    }
    private static let index = Index()
}

extension [UInt8] {
    /// Returns `true` if these bytes contain `part`. Both are short.
    func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first, part.count <= count else { return false }
        for start in 0...(count - part.count) where self[start] == first {
            var length = 1
            while length < part.count, self[start + length] == part[length] { length += 1 }
            if length == part.count { return true }
        }
        return false
    }
}
