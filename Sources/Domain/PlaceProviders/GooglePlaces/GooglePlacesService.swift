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
    public init(
        http: any HTTPSending, configuration: ProviderConfiguration, fields: GooglePlacesFields = .enterprise
    ) {
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

    public func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        try api.checkKey()

        let answer: ProviderAnswer
        switch request.operation {
        case .search: answer = try await search(request, before: deadline)
        case .details:
            answer = try await page(requests.details(request), kind: place(of: request), before: deadline).details()
        case .photo:
            guard let followUp else {
                let page = try await page(requests.photoNames(request), kind: place(of: request), before: deadline)
                return .needsCall(try page.photoCall())
            }
            answer = try await picture(followUp, before: deadline)
        }

        try api.checkSilence(of: answer)
        return .answer(answer)
    }

    private func search(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        let isText = GooglePlacesRequests.needsTextSearch(request)
        let page = try await page(
            isText ? requests.text(request) : requests.nearby(request), kind: .list, before: deadline)
        var answer = try page.found()
        if isText, let centre = request.location {
            // Text search is restricted by a box, whose corners are outside the requested circle.
            answer.places.removeAll { place in
                place.location.map { centre.distance(to: $0) > request.radiusMeters } ?? false
            }
        }
        return answer
    }

    private func place(of request: SearchRequest) -> GooglePlacesResponse.Kind { .place(id: request.placeID ?? "") }

    /// Requests the address of the photo that the first call found.
    private func picture(_ call: FollowUpCall, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer {
        let media = try await page(requests.media(call.subject ?? ""), kind: .media, before: deadline)
        guard let url = media.photoURL else { throw .badResponse("lacks photoUri", from: id) }
        return ProviderAnswer(photoURL: url, attributions: call.attributions)
    }

    /// Checks whether a place exists: the cheapest call.
    func lookUpID(of placeID: String, before deadline: Deadline) async throws(SearchError) {
        try api.checkKey()
        _ = try await page(requests.id(of: placeID), kind: .place(id: placeID), before: deadline)
    }

    private func page(
        _ request: HTTPRequest, kind: GooglePlacesResponse.Kind, before deadline: Deadline
    ) async throws(SearchError) -> GooglePlacesResponse {
        try await api.ask(request, before: deadline) { (response) throws(SearchError) in
            try GooglePlacesResponse.read(response, as: kind)
        }
    }
}
