internal import NIOCore

/// A search of the legacy API: what its parameters or its page token say.
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
    /// Results before this page's, 0, 20 or 40.
    var offset = 0
    /// Of the request that began it, for what differs from search to search.
    var salt: UInt64 = 0

    static let pageSize = 20
    static let limit = 60

    // MARK: Parameters

    /// - Returns: `nil` for INVALID_REQUEST.
    init?(_ query: QueryParameters, isText: Bool, workshop: Workshop) {
        self.isText = isText
        keyword = (isText ? query["query"] : query["keyword"] ?? query["name"]) ?? ""
        // Of `a|b` only the first counts; `a,b` is no type at all and is ignored.
        type = String(query["type"]?.split(separator: "|").first ?? "")
        if type.contains(",") || type.hasPrefix("fault:") { type = "" }
        language = query["language"] ?? ""
        isOpenNow = query.has("opennow")
        isByDistance = query["rankby"] == "distance"
        let prices = (Int(query["minprice"] ?? "0") ?? -1, Int(query["maxprice"] ?? "4") ?? -1)
        guard prices.0 >= 0, prices.1 <= 4, prices.0 <= prices.1 else { return nil }
        self.prices = prices.0...prices.1
        let location = query["location"]
        if let location {
            guard let spot = Self.spot(location) else { return nil }
            (latitude, longitude) = spot
        }
        let radius = query["radius"].map { Double($0) ?? -1 }
        if let radius, !(radius > 0) { return nil }  // "nan" is a number too
        if isText {
            guard !keyword.isEmpty || !type.isEmpty else { return nil }
            if location == nil {
                let town = Town.all[workshop.keyword(keyword, lenient: true)?.town ?? 0]
                (latitude, longitude) = (town.latitude, town.longitude)
            }
            self.radius = min(radius ?? 50_000, 50_000)
        } else {
            guard location != nil else { return nil }
            if isByDistance {
                guard radius == nil, !keyword.isEmpty || !type.isEmpty else { return nil }
                self.radius = 50_000
            } else {
                guard let radius else { return nil }
                self.radius = min(radius, 50_000)  // larger ones are cut without a word
            }
        }
        salt = mixed(UInt64(bitPattern: Int64(latitude * 1e6)) ^ UInt64(bitPattern: Int64(longitude * 1e6)) << 20)
    }

    static func spot(_ text: String) -> (Double, Double)? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let latitude = Double(parts[0].filter { $0 != " " }),
            let longitude = Double(parts[1].filter { $0 != " " })
        else { return nil }
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        return (latitude, longitude)
    }

    // MARK: Places

    func places(_ workshop: Workshop) -> PlaceQuery {
        var places = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        places.order = isByDistance ? .distance : .prominence
        places.keyword = workshop.keyword(keyword, lenient: isText)
        if !type.isEmpty {
            // An unsupported type is as good as none.
            let mask = Category.mask(ofType: type)
            places.categories = mask != 0 ? mask : NewTypes.all.contains(type) ? 0 : Category.everything
        }
        // Without keyword, permanently closed places are left out.
        let (hidesClosed, needsOpen, prices) = (keyword.isEmpty, isOpenNow, prices)
        places.condition = { place, _ in
            if hidesClosed, place.status == .closedForGood { return false }
            if needsOpen, place.openNow != true || place.status != .operational { return false }
            return prices == 0...4 || place.priceLevel.map { prices.contains($0) } ?? false
        }
        return places
    }

    // MARK: Page tokens

    /// The whole search, so that nothing need be kept: all other parameters of the next request are ignored.
    /// Unreadable to those who would guess, like the real ones.
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
        return Base64URL.encode([0x01, 0xA6, 0xBF, 0x15] + mixed(check.value ^ seed).bytes + hidden)
    }

    enum Reading {
        case search(LegacySearch)
        case spoilt
        case tooEarly
    }

    static func read(_ token: String, seed: UInt64, now: UInt64, delay: Duration) -> Reading {
        guard token.utf8.count <= 8192, let bytes = Base64URL.decode(token), bytes.count > 12 else { return .spoilt }
        var check = Fingerprint()
        check.combine(bytes[12...])
        guard UInt64(bytes: bytes[4..<12]) == mixed(check.value ^ seed) else { return .spoilt }
        var stream = HashStream(seed ^ 0x70_6B_65)
        let text = String(decoding: bytes[12...].map { $0 ^ UInt8(truncatingIfNeeded: stream.next()) }, as: UTF8.self)
        let parts = text.split(separator: "\u{1}", maxSplits: 10, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 11, let issued = UInt64(parts[0]), let search = LegacySearch(parts) else { return .spoilt }
        let age = Duration.milliseconds(Int64(clamping: now / 1_000_000) - Int64(clamping: issued))
        return age < delay ? .tooEarly : .search(search)
    }

    private init?(_ parts: [String]) {
        guard let offset = Int(parts[1]), let latitude = Double(parts[2]), let longitude = Double(parts[3]),
            let radius = Double(parts[4]), let low = parts[6].first?.wholeNumberValue,
            let high = parts[6].last?.wholeNumberValue, let salt = UInt64(parts[7]), low <= high
        else { return nil }
        (self.offset, self.latitude, self.longitude, self.radius) = (offset, latitude, longitude, radius)
        (isByDistance, isOpenNow, isText) = (parts[5].contains("d"), parts[5].contains("o"), parts[5].contains("t"))
        (prices, self.salt, type, language, keyword) = (low...high, salt, parts[8], parts[9], parts[10])
    }
}
