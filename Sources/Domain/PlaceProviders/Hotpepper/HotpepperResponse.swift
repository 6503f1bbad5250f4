import HTTPTransport
import JSON
import LocationSearch
import Synchronization

/// One answer of the gourmet search.
struct HotpepperResponse {
    /// The shops that could be read.
    var list = PlaceList()
    /// The total number of shops that the provider has.
    var available: Int?
    /// The number of entries in the list, readable or not.
    var entries = 0
    private var error: (code: Int?, isThere: Bool) = (nil, false)
    private var hasShops = false
    private var hasResults = false

    /// Reads an answer. The HTTP status is always 200, so the body decides.
    /// - Throws: the failure in the contract's terms.
    static func read(_ response: HTTPResponse) throws(SearchError) -> HotpepperResponse {
        guard response.status == 200 else {
            // If an error comes with another status than 200, its body has more details.
            if let page = try? page(of: response), page.error.isThere {
                throw failure(page.error.code, response: response)
            }
            throw SearchError(httpStatus: response.status, of: response, from: .hotpepper)
        }

        if response.body.firstMeaningfulByte == UInt8(ascii: "<") {
            // The API's XML begins with this element. A page of the web server may be XML too.
            guard response.body.prefix(200).firstRange(of: Array("<results".utf8)) == nil else {
                throw .badResponse("is XML", from: .hotpepper)
            }
            throw SearchError(
                .upstreamUnavailable,
                "hotpepper sent a notice instead of data, probably for maintenance; try again later",
                httpStatus: 200)
        }

        let page: HotpepperResponse
        do throws(JSONError) {
            page = try Self.page(of: response)
        } catch {
            throw .badResponse("is not JSON (\(error.kind.rawValue))", from: .hotpepper)
        }

        if page.error.isThere { throw failure(page.error.code, response: response) }
        guard page.hasShops else {
            throw .badResponse(page.hasResults ? "has neither shops nor an error" : "lacks results", from: .hotpepper)
        }
        guard !page.list.isHopeless else { throw .badResponse("has no readable place", from: .hotpepper) }
        return page
    }

    private static func page(of response: HTTPResponse) throws(JSONError) -> HotpepperResponse {
        try response.readBody { body throws(JSONError) in
            var page = HotpepperResponse()
            try page.read(body)
            return page
        }
    }

    private static func failure(_ code: Int?, response: HTTPResponse) -> SearchError {
        let name = code.map { "\($0)" }
        return ProviderRefusal.named(name)?.error(of: .hotpepper, in: response, providerStatus: name)
            ?? SearchError(
                .upstreamRejected, "hotpepper returned an undocumented error",
                httpStatus: response.status, providerStatus: name)
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
        var layout = Self.layout.withLock { $0 }
        defer { Self.layout.withLock { $0 = layout } }

        // Both are fetched once for all shops, because each use of a global checks whether it is initialised.
        let members = Self.members
        var fields = JSONFields(of: layout)
        while try reader.nextElement() {
            entries += 1
            fields.removeAll()
            if !reader.follow(&layout, into: &fields) {
                fields.removeAll()
                let shop = try readShop(&reader, members: members, into: &fields)
                layout.learn(from: reader.bytes(in: shop))
            }
            // A shop is filled in place, because rows are large and numerous.
            var shop = Places.Row(provider: .hotpepper)
            if fill(&shop, with: fields, of: reader) { list.add(shop) } else { list.addUnreadable() }
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

    /// The members of a shop, and of the objects in it, that are read.
    private struct Members {
        let shop = JSONMembers<ShopMember>()
        let genre = JSONMembers<NameMember>()
        let urls = JSONMembers<URLMember>()
        let photo = JSONMembers<PhotoMember>()
        let sizes = JSONMembers<PhotoSize>()
    }
    private static let members = Members()

    /// The values of a shop that are read.
    private enum ShopField: Int, CaseIterable {
        case id, name, address, latitude, longitude, genre, subGenre, url, largePhoto, mediumPhoto, mobilePhoto

        /// The path from a shop to the value.
        var path: String {
            switch self {
            case .id: "id"
            case .name: "name"
            case .address: "address"
            case .latitude: "lat"
            case .longitude: "lng"
            case .genre: "genre.name"
            case .subGenre: "sub_genre.name"
            case .url: "urls.pc"
            case .largePhoto: "photo.pc.l"
            case .mediumPhoto: "photo.pc.m"
            case .mobilePhoto: "photo.mobile.l"
            }
        }
    }

    /// The provider's layout of shops, learned from its answers.
    private static let layout = Mutex(JSONLayout(ShopField.allCases.map(\.path)))

    /// Finds the fields of a shop whose members may come in any order. If a member repeats, the last one counts.
    /// - Returns: the range of the shop in the input.
    private func readShop(
        _ reader: inout JSONReader, members: Members, into fields: inout JSONFields
    ) throws(JSONError) -> Range<Int> {
        guard try reader.enterObject() else { return 0..<0 }
        let start = reader.offset - 1  // bounded: the brace of the object was read

        while let member = try reader.nextMember(of: members.shop) {
            switch member {
            case .id: fields[ShopField.id] = try reader.field()
            case .name: fields[ShopField.name] = try reader.field()
            case .address: fields[ShopField.address] = try reader.field()
            case .lat: fields[ShopField.latitude] = try reader.field()
            case .lng: fields[ShopField.longitude] = try reader.field()
            case .genre: fields[ShopField.genre] = try reader.field(members.genre)
            case .subGenre: fields[ShopField.subGenre] = try reader.field(members.genre)
            case .urls: fields[ShopField.url] = try reader.field(members.urls)
            case .photo: try readPhoto(&reader, members: members, into: &fields)
            }
        }
        return start..<reader.offset  // bounded: a reader never goes back
    }

    private func readPhoto(
        _ reader: inout JSONReader, members: Members, into fields: inout JSONFields
    ) throws(JSONError) {
        for size in [ShopField.largePhoto, .mediumPhoto, .mobilePhoto] { fields[size] = JSONField() }
        guard try reader.enterObject() else { return }
        while let device = try reader.nextMember(of: members.photo) {
            guard try reader.enterObject() else { continue }
            while let size = try reader.nextMember(of: members.sizes) {
                let value = try reader.field()
                switch (device, size) {
                case (.pc, .large):
                    if !value.isEmptyText { fields[ShopField.largePhoto] = value }
                case (.pc, .medium):
                    if fields[ShopField.mediumPhoto].isEmptyText { fields[ShopField.mediumPhoto] = value }
                case (.mobile, .large):
                    if fields[ShopField.mobilePhoto].isEmptyText { fields[ShopField.mobilePhoto] = value }
                case (.mobile, .medium): break
                }
            }
        }
    }

    /// Fills in a shop from its fields. Everything but id and name may be missing or empty.
    /// - Returns: `false` if it lacks id or name.
    private mutating func fill(
        _ shop: inout Places.Row, with fields: borrowing JSONFields, of reader: borrowing JSONReader
    ) -> Bool {
        shop.id = reader.wanted(fields[ShopField.id], in: &list.places) ?? Places.Text()
        shop.name = reader.wanted(fields[ShopField.name], in: &list.places) ?? Places.Text()
        guard !shop.id.isEmpty, !shop.name.isEmpty else { return false }

        shop.address = reader.wanted(fields[ShopField.address], in: &list.places)
        shop.location = Coordinate(
            latitude: reader.lenientDouble(fields[ShopField.latitude]),
            longitude: reader.lenientDouble(fields[ShopField.longitude]))
        shop.url = reader.wantedURL(fields[ShopField.url], in: &list.places)
        shop.imageURL = photo(fields, of: reader)

        shop.category = reader.wanted(fields[ShopField.genre], in: &list.places)
        if let genre = shop.category { list.places.add(genre, to: &shop.types) }
        if let subGenre = reader.wanted(fields[ShopField.subGenre], in: &list.places) {
            list.places.add(subGenre, to: &shop.types)
        }
        return true
    }

    /// Returns the URL of the largest picture, which is `photo.pc.l` if present. The placeholder for "no image" does not count.
    private mutating func photo(_ fields: borrowing JSONFields, of reader: borrowing JSONReader) -> Places.Text? {
        var best = fields[ShopField.largePhoto]
        if best.isEmptyText { best = fields[ShopField.mediumPhoto] }
        if best.isEmptyText { best = fields[ShopField.mobilePhoto] }

        guard let url = reader.wantedURL(best, in: &list.places) else { return nil }
        return list.places.hasSuffix(url, "noimage.gif") ? nil : url
    }
}
