public import Basics
public import HTTPTransport
public import LocationSearch

/// The service for Hot Pepper Gourmet search (Recruit Web Service), which covers restaurants in Japan. Details and photos
/// are searches by id in this API.
public struct HotpepperService: PlaceService {
    public let id = ProviderID.hotpepper
    private let api: ProviderAPI
    private let requests: HotpepperRequests

    /// Makes a service whose calls use `http`.
    /// - Parameter response: the form of answers to searches and details; photo requests use the full one.
    public init(http: any HTTPSending, configuration: ProviderConfiguration, response: HotpepperResponseType = .lite) {
        api = ProviderAPI(id, http: http, configuration: configuration)
        requests = HotpepperRequests(configuration: configuration, response: response)
    }

    public func refusal(of request: SearchRequest) -> SearchError? {
        if request.hasOptions, let refusal = refusal(of: request.options, in: request.operation) { return refusal }
        guard request.operation == .search else {
            // A comma separates ids, so the answer could be another shop.
            return request.placeID?.utf8.contains(UInt8(ascii: ",")) == true ? Self.unknownPlace : nil
        }
        if request.openNow == true {
            return .unsupported("openNow", by: id, cure: "hotpepper has no such filter; leave it out")
        }

        if !request.hasOptions || request.options.categories.isEmpty,
            HotpepperRequests.genre(for: request.category) == nil
        {
            return .unsupported("category", by: id, cure: "use restaurant, or a genre such as G013")
        }
        if let token = request.pageToken, HotpepperRequests.start(from: token) == nil {
            return .invalid("pageToken", expected: "a nextPageToken of an earlier hotpepper result")
        }
        return nil
    }

    private func refusal(of options: SearchOptions, in operation: SearchOperation) -> SearchError? {
        let cure = "give genres such as G013 without \"primary:\", no excludeCategories and no include"
        // Of these members, only `include` has a meaning for one place.
        let options = operation == .search ? options : SearchOptions(parts: operation == .photo ? [] : options.parts)
        if options.categories.contains(where: { HotpepperRequests.genre(for: $0) == nil }) {
            return .unsupported("categories", by: id, cure: cure)
        }
        return options.refusal(by: id, takesSeveralTypes: true, gives: [], cure: cure)
    }

    public func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    public func suitability(for request: SearchRequest) -> Suitability {
        switch request.operation {
        case .search:
            // Outside Japan it finds nothing, which would look like an answer.
            request.location.map(JapanArea.contains) == true ? .possible : .unlikely
        case .details, .photo:
            request.placeID.map(HotpepperRequests.isShopID) == true ? .certain : .unlikely
        }
    }

    public func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let operation = request.operation
        let (start, radius) = (HotpepperRequests.start(of: request), HotpepperRequests.radius(of: request))
        return api.begin(requests.call(for: request), before: deadline, then: end) {
            [self] (response) throws(SearchError) in
            let page = try HotpepperResponse.read(response)
            return .answer(
                operation == .search
                    ? found(on: page, from: start, radiusMeters: radius) : try place(on: page, for: operation))
        }
    }

    /// Returns the answer to a search.
    /// - Parameters:
    ///   - start: the offset of the first result, counted from 1.
    ///   - radius: the radius of the search step, in metres.
    private func found(on page: HotpepperResponse, from start: Int, radiusMeters radius: Double) -> ProviderAnswer {
        // The entries are counted, because `results_returned` is only a label.
        let next = start + page.entries
        let hasNext = page.entries > 0 && next <= page.available ?? 0
        return ProviderAnswer(
            places: page.list.places, totalAvailable: page.available, nextPageToken: hasNext ? "\(next)" : nil,
            attributions: Self.credits(for: page.list.places), radiusMeters: radius,
            unreadablePlaces: page.list.unreadable)
    }

    /// Returns the answer to a details or photo request.
    private func place(on page: HotpepperResponse, for operation: SearchOperation) throws(SearchError) -> ProviderAnswer
    {
        var places = page.list.places
        places.keepFirst(1)
        guard let place = places.first else { throw Self.unknownPlace }
        if operation == .details { return ProviderAnswer(places: places, attributions: Self.credits(for: places)) }
        guard let photo = place.imageURL else { throw SearchError(.notFound, "hotpepper has no photo of this place") }
        return ProviderAnswer(photoURL: photo, attributions: Self.credits(for: places))
    }

    private static let unknownPlace = SearchError(.notFound, "hotpepper has no place with this placeId")

    /// Returns the credits that the terms require: the first one always, the second one with pictures.
    private static func credits(for places: Places) -> [String] {
        places.rows.contains { $0.imageURL != nil } ? creditsWithPictures : credits
    }
    private static let credits = ["Powered by ホットペッパーグルメ Webサービス"]
    private static let creditsWithPictures = credits + ["【画像提供：ホットペッパー グルメ】"]
}
