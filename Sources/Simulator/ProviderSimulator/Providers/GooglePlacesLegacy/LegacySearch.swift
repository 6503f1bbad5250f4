internal import Basics
internal import NIOCore

/// A search in Google's older API, created from its parameters or from its page token.
struct LegacySearch {
    var latitude = 0.0
    var longitude = 0.0
    var radius = 0.0
    var isByDistance = false
    var keyword = ""
    var type = ""
    var language = ""
    var isOpenNow = false
    var prices = 0...4
    var isText = false
    /// The number of results on earlier pages: 0, 20 or 40.
    var offset = 0
    /// A number derived from the search position. It determines everything that varies between searches.
    var salt: UInt64 = 0

    static let pageSize = 20
    /// The maximum number of results on all pages together.
    static let limit = 60

    /// Creates an empty search.
    init() {}

    // MARK: Parameters

    /// Parses the parameters of a first page. Fails if the answer is INVALID_REQUEST.
    init?(_ query: QueryParameters, isText: Bool, resources: LoopResources) {
        self.isText = isText
        keyword = (isText ? query["query"] : query["keyword"] ?? query["name"]) ?? ""

        // Only the first type of `a|b` is used. `a,b` is not a type and is ignored.
        type = String(query["type"]?.split(separator: "|").first ?? "")
        if type.contains(",") || type.hasPrefix("fault:") { type = "" }
        language = query["language"] ?? ""
        isOpenNow = query.has("opennow")
        isByDistance = query["rankby"] == "distance"

        let prices = (Int(query["minprice"] ?? "0") ?? -1, Int(query["maxprice"] ?? "4") ?? -1)
        guard prices.0 >= 0, prices.1 <= 4, prices.0 <= prices.1 else { return nil }

        self.prices = prices.0...prices.1  // bounded: checked above

        let hasLocation = query.has("location")
        if hasLocation {
            guard let position = Self.position(query["location"] ?? "") else { return nil }
            (latitude, longitude) = position
        }

        let radius = query["radius"].map { Double($0) ?? -1 }
        if let radius, !(radius > 0) { return nil }  // also false for NaN

        let isAccepted =
            isText
            ? completeTextSearch(hasLocation: hasLocation, radius: radius, resources: resources)
            : completeNearbySearch(hasLocation: hasLocation, radius: radius)
        guard isAccepted else { return nil }

        let (north, east) = (Int64(saturating: latitude * 1e6), Int64(saturating: longitude * 1e6))
        salt = mixed(UInt64(bitPattern: north) ^ UInt64(bitPattern: east) << 20)
    }

    /// Sets the area of a text search. Without a location, it is the town named in the text.
    private mutating func completeTextSearch(hasLocation: Bool, radius: Double?, resources: LoopResources) -> Bool {
        guard !keyword.isEmpty || !type.isEmpty else { return false }

        if !hasLocation {
            let town = Town.all[resources.keyword(keyword, lenient: true)?.town ?? 0]
            (latitude, longitude) = (town.latitude, town.longitude)
        }
        self.radius = min(radius ?? Self.maxRadius, Self.maxRadius)
        return true
    }

    /// Sets the radius of a nearby search, which needs a location, and either a radius or the order by distance.
    private mutating func completeNearbySearch(hasLocation: Bool, radius: Double?) -> Bool {
        guard hasLocation else { return false }

        if isByDistance {
            guard radius == nil, !keyword.isEmpty || !type.isEmpty else { return false }
            self.radius = Self.maxRadius
        } else {
            guard let radius else { return false }
            self.radius = min(radius, Self.maxRadius)
        }
        return true
    }

    /// The maximum radius in metres. A larger one is reduced without an error.
    private static let maxRadius = 50_000.0

    private static func position(_ text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Double(parts[0].filter { $0 != " " }),
            let longitude = Double(parts[1].filter { $0 != " " })
        else { return nil }
        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else { return nil }
        return (latitude, longitude)
    }

    // MARK: Places

    /// Returns the query for the places of the search.
    func placeQuery(with resources: LoopResources) -> PlaceQuery {
        var places = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        places.order = isByDistance ? .distance : .prominence
        places.keyword = resources.keyword(keyword, lenient: isText)
        if !type.isEmpty {
            // A type unknown to Google is ignored.
            let mask = Category.mask(ofType: type)
            places.categories = mask != 0 ? mask : GooglePlacesTypes.all.contains(type) ? 0 : Category.everything
        }

        // A search without a keyword omits permanently closed places.
        let (hidesClosed, needsOpen, prices) = (keyword.isEmpty, isOpenNow, prices)
        places.condition = { place, _ in
            if hidesClosed, place.status == .closedForGood { return false }
            if needsOpen, place.openNow != true || place.status != .operational { return false }
            return prices == 0...4 || place.priceLevel.map { prices.contains($0) } ?? false
        }

        return places
    }

    // MARK: Page tokens

    /// Returns the token of the next page. It contains the whole search, so the simulator stores nothing, and the other
    /// parameters of the next request are ignored. It is obfuscated, like real tokens.
    /// - Parameter now: the current time in nanoseconds, on the same clock as in `read`.
    func token(seed: UInt64, now: UInt64) -> String {
        let flags = (isByDistance ? "d" : "") + (isOpenNow ? "o" : "") + (isText ? "t" : "")
        let text = [
            "\(now / 1_000_000)", "\(offset)", "\(latitude)", "\(longitude)", "\(radius)", flags,
            "\(prices.lowerBound)\(prices.upperBound)", "\(salt)", type, language, keyword,
        ].joined(separator: "\u{1}")
        var stream = HashStream(seed ^ 0x70_6B_65)
        let hidden = text.utf8.map { $0 ^ UInt8(truncatingIfNeeded: stream.next()) }
        var check = Fingerprint()
        check.combine(hidden)
        let head: [UInt8] = [0x01, 0xA6, 0xBF, 0x15]
        return Base64.encode([head, mixed(check.value ^ seed).bytes, hidden].flatMap(\.self), as: .url)
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
        guard token.utf8.count <= 8192, let bytes = Base64.decode(token, as: .url), bytes.count > 12 else {
            return .damaged
        }
        var check = Fingerprint()
        check.combine(bytes[12...])
        guard UInt64(bytes: bytes[4..<12]) == mixed(check.value ^ seed) else { return .damaged }
        var stream = HashStream(seed ^ 0x70_6B_65)
        let text = String(decoding: bytes[12...].map { $0 ^ UInt8(truncatingIfNeeded: stream.next()) }, as: UTF8.self)
        let parts = text.split(separator: "\u{1}", maxSplits: 10, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 11, let issued = UInt64(parts[0]), let search = LegacySearch(parts) else {
            return .damaged
        }
        let age = Duration.milliseconds(Int64(clamping: now / 1_000_000).saturatingSubtracting(Int64(clamping: issued)))
        return age < delay ? .tooEarly : .search(search)
    }

    private init?(_ parts: [String]) {
        guard let offset = Int(parts[1]), let latitude = Double(parts[2]), let longitude = Double(parts[3]),
            let radius = Double(parts[4]), let low = parts[6].first?.wholeNumberValue,
            let high = parts[6].last?.wholeNumberValue, let salt = UInt64(parts[7]), low <= high
        else { return nil }

        // The seed is not secret, so a client could forge a token.
        let isPossible =
            (0...Self.limit).contains(offset) && latitude.magnitude <= 90 && longitude.magnitude <= 180
            && radius > 0 && radius <= Self.maxRadius && (0...4).contains(low) && (0...4).contains(high)
        guard isPossible else { return nil }
        (self.offset, self.latitude, self.longitude, self.radius) = (offset, latitude, longitude, radius)
        (isByDistance, isOpenNow, isText) = (parts[5].contains("d"), parts[5].contains("o"), parts[5].contains("t"))
        // bounded: the order of the prices was checked above
        (prices, self.salt, type, language, keyword) = (low...high, salt, parts[8], parts[9], parts[10])
    }
}
