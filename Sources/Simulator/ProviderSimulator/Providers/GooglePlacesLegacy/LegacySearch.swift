internal import Basics

/// A nearby search in Google's older API, created from its parameters or from its page token.
struct LegacySearch {
    private let query: QueryParameters
    private let latitude: Double
    private let longitude: Double
    private let radius: Double
    /// True to order places by distance, and not by prominence.
    private let ranksByDistance: Bool
    let keyword: String
    let type: String
    /// The number of results on earlier pages: 0, 20 or 40.
    private(set) var offset: Int

    static let pageSize = 20
    /// The maximum number of results on all pages together.
    static let limit = 60
    /// The maximum radius in metres. A larger one is reduced without an error.
    private static let maxRadius = 50_000.0

    var language: PlaceLanguage { PlaceLanguage(query["language"]) }

    /// The next page of the same search.
    var nextPage: LegacySearch {
        var search = self
        search.offset += Self.pageSize  // bounded: an offset is 0 to 60
        return search
    }

    /// Parses the parameters of a search. Fails if the answer is INVALID_REQUEST.
    init?(_ query: QueryParameters, offset: Int = 0) {
        guard let (latitude, longitude) = Self.position(query["location"] ?? ""), (0...Self.limit).contains(offset)
        else { return nil }

        let radius: Double
        ranksByDistance = query["rankby"] == "distance"
        if ranksByDistance {
            // This order needs something to search for, and no radius.
            let subject = ["keyword", "type", "name"].compactMap { query[$0] }.joined()
            guard !query.has("radius"), !subject.isEmpty else { return nil }
            radius = Self.maxRadius
        } else {
            guard let given = Double(query["radius"] ?? ""), given > 0 else { return nil }
            radius = given
        }
        (self.query, self.latitude, self.longitude) = (query, latitude, longitude)
        (self.radius, self.offset) = (min(radius, Self.maxRadius), offset)
        keyword = query["keyword"] ?? ""

        // Only the first type of `a|b` is used. `a,b` is not a type and is ignored.
        let type = String(query["type"]?.split(separator: "|").first ?? "")
        self.type = type.contains(",") || type.hasPrefix("fault:") ? "" : type
    }

    private static func position(_ text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Double(parts[0].filter { $0 != " " }),
            let longitude = Double(parts[1].filter { $0 != " " })
        else { return nil }
        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else { return nil }
        return (latitude, longitude)
    }

    /// Returns the query for the places of the search.
    func placeQuery() -> PlaceQuery {
        var places = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        places.order = ranksByDistance ? .distance : .prominence
        places.keyword = KeywordMatch(keyword, lenient: false)
        if !type.isEmpty {
            // A type unknown to Google is ignored.
            let mask = Category.mask(ofType: type)
            places.categories = mask != 0 ? mask : GooglePlacesTypes.all.contains(type) ? 0 : Category.everything
        }

        // A search without a keyword omits permanently closed places.
        let (hidesClosed, needsOpen) = (keyword.isEmpty, query.has("opennow"))
        places.condition = { place, _ in
            if hidesClosed, place.status == .closedForGood { return false }
            return !needsOpen || place.openNow == true && place.status == .operational
        }
        return places
    }

    // MARK: Page tokens

    /// Returns the token of this page. It contains the whole search, without the key, so the other parameters of the
    /// next request are ignored.
    /// - Parameter now: the current time in nanoseconds, on the same clock as in `read`.
    func token(seed: UInt64, now: UInt64) -> String {
        let parameters = query.pairs.filter { $0.name != "key" }.map {
            "&\($0.name)=\(PercentEncoding.encoded($0.value))"
        }
        return SealedText.seal(Array("\(now / 1_000_000)&\(offset)\(parameters.joined())".utf8), seed: seed)
    }

    enum Reading {
        case search(LegacySearch)
        /// The token was modified, or comes from another world.
        case damaged
        /// The token cannot be used yet.
        case tooEarly
    }

    /// Parses a page token.
    /// - Parameter delay: the minimum age of a valid token.
    static func read(_ token: String, seed: UInt64, now: UInt64, delay: Duration) -> Reading {
        guard let payload = SealedText.open(token, seed: seed) else { return .damaged }
        let parts = payload.split(separator: UInt8(ascii: "&"), maxSplits: 2).map {
            String(decoding: $0, as: UTF8.self)
        }
        var unused = Fingerprint()
        guard parts.count == 3, let issued = Int64(parts[0]), let offset = Int(parts[1]),
            let search = LegacySearch(
                QueryParameters(Array(parts[2].utf8), from: 0, fingerprint: &unused), offset: offset)
        else { return .damaged }
        let age = Duration.milliseconds(Int64(clamping: now / 1_000_000).saturatingSubtracting(issued))
        return age < delay ? .tooEarly : .search(search)
    }
}
