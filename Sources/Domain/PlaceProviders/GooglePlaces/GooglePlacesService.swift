public import Basics
public import HTTPTransport
public import LocationSearch

/// The service for the Google Places API (New): nearby and text search, details, photo.
public struct GooglePlacesService: PlaceService {
    public let id = ProviderID.googlePlaces
    private let api: ProviderAPI
    private let requests: GooglePlacesRequests

    /// Makes a service whose calls use `http`.
    /// - Parameter fields: the requested fields of each place, which set the price of searches and details.
    public init(http: any HTTPSending, configuration: ProviderConfiguration, fields: GooglePlacesFields = .enterprise) {
        api = ProviderAPI(id, http: http, configuration: configuration)
        requests = GooglePlacesRequests(configuration: configuration, fields: fields)
    }

    public func refusal(of request: SearchRequest) -> SearchError? {
        guard request.hasOptions, request.operation == .search, GooglePlacesRequests.needsTextSearch(request) else {
            return nil
        }
        return request.options.refusal(
            by: id, gives: [.businessStatus, .openingHours],
            cure: "with keyword, openNow or pageToken, give one category without \"primary:\" and no excludeCategories")
    }

    public func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass {
        switch request.operation {
        case .search:
            GooglePlacesRequests.needsTextSearch(request)
                ? requests.fields.masks(for: request).textClass : requests.fields.masks(for: request).nearbyClass
        case .details: requests.fields.masks(for: request).detailsClass
        case .photo: followUp == nil ? .placeDetailsIDsOnly : .placeDetailsPhotos
        }
    }

    public func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let place = GooglePlacesResponse.Kind.place(id: request.placeID ?? "")
        switch request.operation {
        case .search where GooglePlacesRequests.needsTextSearch(request):
            let (centre, radius) = (request.location, request.radiusMeters)
            return api.begin(requests.text(request), before: deadline, then: end) { (response) throws(SearchError) in
                var answer = try GooglePlacesResponse.read(response, as: .list).found()
                if let centre {
                    // Text search is restricted by a box, whose corners are outside the requested circle.
                    answer.places.removeAll { $0.location.map { centre.distance(to: $0) > radius } ?? false }
                }
                return .answer(answer)
            }
        case .search:
            return api.begin(requests.nearby(request), before: deadline, then: end) { (response) throws(SearchError) in
                .answer(try GooglePlacesResponse.read(response, as: .list).found())
            }
        case .details:
            return api.begin(requests.details(request), before: deadline, then: end) { (response) throws(SearchError) in
                .answer(try GooglePlacesResponse.read(response, as: place).details())
            }
        case .photo:
            if let followUp { return beginPicture(followUp, before: deadline, then: end) }
            return api.begin(requests.photoNames(request), before: deadline, then: end) {
                (response) throws(SearchError) in
                .needsCall(try GooglePlacesResponse.read(response, as: place).photoCall())
            }
        }
    }

    /// Requests the address of the photo that the first call found.
    private func beginPicture(
        _ call: FollowUpCall, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        api.begin(requests.media(call.subject ?? ""), before: deadline, then: end) {
            [id] (response) throws(SearchError) in
            guard let url = try GooglePlacesResponse.read(response, as: .media).photoURL else {
                throw .badResponse("lacks photoUri", from: id)
            }
            return .answer(ProviderAnswer(photoURL: url, attributions: call.attributions))
        }
    }

    /// Checks whether a place exists: the cheapest call.
    func lookUpID(of placeID: String, before deadline: Deadline) async throws(SearchError) {
        try await api.ask(requests.id(of: placeID), before: deadline) { (response) throws(SearchError) in
            _ = try GooglePlacesResponse.read(response, as: .place(id: placeID))
            return .answer(ProviderAnswer())
        }
    }
}
