import HTTPTransport
import JSON
import LocationSearch

/// One answer of the gourmet search.
struct HotpepperResponse {
    /// The shops that could be read.
    var list = PlaceList()
    /// The number of shops that the provider has in all.
    var available: Int?
    /// The number of entries in the list, readable or not.
    var entries = 0
    private var error: (code: Int?, isThere: Bool) = (nil, false)
    private var hasShops = false
    private var hasResults = false

    /// Reads an answer. The HTTP status is 200 whatever happened, so the body decides.
    /// - Throws: the failure in the contract's terms.
    static func read(_ response: HTTPResponse) throws(SearchError) -> HotpepperResponse {
        guard response.status == 200 else {
            // If an error comes with another status than 200 after all, its body says more.
            var page = HotpepperResponse()
            if (try? page.read(response.body)) != nil, page.error.isThere {
                throw failure(page.error.code, response)
            }
            throw SearchError(httpStatus: response.status, retryAfter: response.retryAfter, from: .hotpepper)
        }

        if response.body.firstMeaningfulByte == UInt8(ascii: "<") {
            guard !response.body.prefix(64).starts(with: "<?xml".utf8) else {
                throw .badResponse("is XML", from: .hotpepper)
            }
            throw SearchError(
                .upstreamUnavailable, "hotpepper sent a notice instead of data, as in maintenance; try again later",
                httpStatus: 200)
        }

        var page = HotpepperResponse()
        do throws(JSONError) {
            try page.read(response.body)
        } catch {
            throw .badResponse("is no JSON (\(error.kind.rawValue))", from: .hotpepper)
        }

        if page.error.isThere { throw failure(page.error.code, response) }
        guard page.hasShops else {
            throw .badResponse(page.hasResults ? "has neither shops nor an error" : "lacks results", from: .hotpepper)
        }
        guard !page.list.isHopeless else { throw .badResponse("has no readable place", from: .hotpepper) }
        return page
    }

    private static func failure(_ code: Int?, _ response: HTTPResponse) -> SearchError {
        func make(_ ours: SearchError.Code, _ message: String) -> SearchError {
            SearchError(ours, message, httpStatus: response.status, providerStatus: code.map { "\($0)" })
        }
        switch code {
        case 1000: return make(.upstreamUnavailable, "hotpepper failed; try again later")
        case 2000: return make(.unauthorized, "hotpepper refuses our API key; check hotpepper.apiKey")
        case 3000: return make(.invalidRequest, "hotpepper refused a parameter of the request")
        default: return make(.upstreamRejected, "hotpepper answered with an error it does not document")
        }
    }

    private mutating func read(_ body: [UInt8]) throws(JSONError) {
        list = PlaceList(of: body)
        var reader = JSONReader(body.span)
        if try reader.enterObject() {
            while let key = try reader.nextKey() {
                if "results" ~= key { try readResults(&reader) } else { try reader.skip() }
            }
        }
        try reader.finish()
    }

    private mutating func readResults(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        hasResults = true
        while let key = try reader.nextKey() {
            switch key {
            case "results_available": available = try reader.lenientInt().flatMap { $0 >= 0 ? $0 : nil }
            case "shop": try readShops(&reader)
            case "error": try readError(&reader)
            default: try reader.skip()
            }
        }
    }

    private mutating func readShops(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        hasShops = true
        // The members are fetched once for all shops, because each use of a global asks whether it has been made.
        let members = Self.members
        while try reader.nextElement() {
            entries += 1
            // A shop is filled in place, because rows are large and there are many.
            var shop = Places.Row(provider: .hotpepper)
            if try read(&shop, from: &reader, members) { list.add(shop) } else { list.addUnreadable() }
        }
    }

    /// Reads an array of errors, or a single one. The first counts.
    private mutating func readError(_ reader: inout JSONReader) throws(JSONError) {
        if try reader.kind() == .object { return try readOneError(&reader) }
        guard try reader.enterArray() else { return }
        while try reader.nextElement() { try readOneError(&reader) }
    }

    private mutating func readOneError(_ reader: inout JSONReader) throws(JSONError) {
        error.isThere = true
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            if "code" ~= key {
                let code = try reader.lenientInt()
                if error.code == nil { error.code = code }
            } else {
                try reader.skip()
            }
        }
    }
}

// MARK: - One shop

extension HotpepperResponse {
    private enum ShopMember: String, CaseIterable {
        case id, name, address, lat, lng, genre, subGenre = "sub_genre", urls, photo
    }
    private enum NameMember: String, CaseIterable { case name }
    private enum URLMember: String, CaseIterable { case pc }
    private enum PhotoMember: String, CaseIterable { case pc, mobile }
    private enum PhotoSize: String, CaseIterable { case large = "l", medium = "m" }

    /// The members that are read of a shop and of the objects within it.
    private struct Members {
        let shop = JSONMembers<ShopMember>()
        let genre = JSONMembers<NameMember>()
        let urls = JSONMembers<URLMember>()
        let photo = JSONMembers<PhotoMember>()
        let sizes = JSONMembers<PhotoSize>()
    }
    private static let members = Members()

    /// Reads one shop. Everything but id and name may be missing or empty.
    /// - Returns: `false` when it lacks id or name.
    private mutating func read(
        _ shop: inout Places.Row, from reader: inout JSONReader, _ members: Members
    ) throws(JSONError) -> Bool {
        guard try reader.enterObject() else { return false }
        var (latitude, longitude): (Double?, Double?) = (nil, nil)
        var subGenre: Places.Text?

        while let member = try reader.nextMember(of: members.shop) {
            switch member {
            case .id: shop.id = try reader.wanted(in: &list.places) ?? Places.Text()
            case .name: shop.name = try reader.wanted(in: &list.places) ?? Places.Text()
            case .address: shop.address = try reader.wanted(in: &list.places)
            case .lat: latitude = try reader.lenientDouble()
            case .lng: longitude = try reader.lenientDouble()
            case .genre: shop.category = try reader.wanted(members.genre, in: &list.places)
            case .subGenre: subGenre = try reader.wanted(members.genre, in: &list.places)
            case .urls: shop.url = try reader.wanted(members.urls, in: &list.places)
            case .photo: shop.imageURL = try photo(&reader, members)
            }
        }

        guard !shop.id.isEmpty, !shop.name.isEmpty else { return false }
        shop.location = Coordinate(latitude: latitude, longitude: longitude)
        if let genre = shop.category { list.places.add(genre, to: &shop) }
        if let subGenre { list.places.add(subGenre, to: &shop) }
        return true
    }

    /// Reads the URL of the largest picture, which is `photo.pc.l` where there is one. The picture that stands in for "no
    /// image" is none.
    private mutating func photo(_ reader: inout JSONReader, _ members: Members) throws(JSONError) -> Places.Text? {
        // Only the best text is kept.
        var (best, rank): (JSONText?, Int) = (nil, 0)
        guard try reader.enterObject() else { return nil }
        while let device = try reader.nextMember(of: members.photo) {
            guard try reader.enterObject() else { continue }
            while let size = try reader.nextMember(of: members.sizes) {
                let worth =
                    switch (device, size) {
                    case (.pc, .large): 3
                    case (.pc, .medium): 2
                    case (.mobile, .large): 1
                    case (.mobile, .medium): 0
                    }
                let text = try reader.text()
                if let text, !text.isEmpty, worth > rank || worth == 3 { (best, rank) = (text, worth) }
            }
        }

        guard let best else { return nil }
        let url = list.places.add { best.append(to: &$0) }
        return url.isEmpty || list.places.hasSuffix(url, "noimage.gif") ? nil : url
    }
}
