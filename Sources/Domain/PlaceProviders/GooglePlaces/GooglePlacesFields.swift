internal import LocationSearch

/// The fields that are requested for each place from Google's Places API (New), which determine the price of its calls: the
/// setting `googlePlaces.fields`.
///
/// Masks and price classes are computed once, not for each request.
public struct GooglePlacesFields: Sendable, Hashable {
    /// The setting as written, without blanks.
    public let text: String
    /// The masks and price classes of most requests.
    private let plain: GooglePlacesMasks
    /// The same for requests with `include`.
    private let extended: [Set<SearchOptions.Part>: GooglePlacesMasks]

    /// All fields that a result can have.
    public static let enterprise = GooglePlacesFields(
        "enterprise", search: searchFields, details: searchFields + [.photos, .websiteUri])

    /// All fields except ratings, prices, opening hours and the place's own page.
    public static let pro = GooglePlacesFields(
        "pro", search: searchFields.filter { $0.tier <= .pro },
        details: (searchFields + [.photos]).filter { $0.tier <= .pro })

    /// The cheapest details that include a place's position. Searches request the fields of `pro`, because a search with
    /// positions costs at least Pro, and the other Pro fields are then free.
    public static let essentials = GooglePlacesFields(
        "essentials", search: searchFields.filter { $0.tier <= .pro },
        details: (searchFields + [.photos]).filter { $0.tier <= .essentials })

    /// A description of the setting's values for people.
    public static let expectation =
        "essentials, pro, enterprise, or fields of the API, each once and separated by commas: some of "
        + GooglePlacesField.allCases.map(\.rawValue).joined(separator: ", ")

    private static let presets = [essentials, pro, enterprise]

    private static let searchFields: [GooglePlacesField] = [
        .id, .displayName, .formattedAddress, .location, .types, .primaryType, .primaryTypeDisplayName, .googleMapsUri,
        .businessStatus, .attributions, .rating, .userRatingCount, .priceLevel, .currentOpeningHours,
    ]

    /// Reads the setting: the name of a price class, or names of the API's fields, separated by commas.
    ///
    /// A list applies to both searches and details. `id` and `attributions` are always requested: a result needs the one,
    /// the terms require the other, and neither raises the price.
    /// - Returns: `nil` for a name that is unknown or repeated.
    public init?(text: String) {
        if let preset = Self.presets.first(where: { $0.text == text }) {
            self = preset
            return
        }

        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
        let listed = names.compactMap { GooglePlacesField(name: $0) }
        guard listed.count == names.count, Set(listed).count == listed.count else { return nil }

        let fields = listed + [.id, .attributions].filter { !listed.contains($0) }
        self.init(names.joined(separator: ","), search: fields, details: fields)
    }

    private init(_ text: String, search: [GooglePlacesField], details: [GooglePlacesField]) {
        self.text = text
        let sets: [Set<SearchOptions.Part>] = [[.businessStatus], [.openingHours], [.businessStatus, .openingHours]]
        plain = GooglePlacesMasks(search: search, details: details, including: [])
        extended = sets.reduce(into: [:]) {
            $0[$1] = GooglePlacesMasks(search: search, details: details, including: $1)
        }
    }

    /// Returns the masks and price classes of calls for a request.
    @inline(__always)
    func masks(for request: borrowing SearchRequest) -> GooglePlacesMasks {
        request.hasOptions ? extended[request.options.parts] ?? plain : plain
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
