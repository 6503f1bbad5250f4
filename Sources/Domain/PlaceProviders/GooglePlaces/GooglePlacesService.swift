public import Basics
public import HTTPTransport
public import LocationSearch

/// The service for the Google Places API (New): nearby and text search, details, photo.
public struct GooglePlacesService: PlaceService {
    public let id = ProviderID.googlePlaces
    private let http: any HTTPSending
    private let requests: GooglePlacesRequests

    /// Makes a service whose calls use `http`.
    /// - Parameter fields: the requested fields of each place, which set the price of searches and details.
    public init(
        http: any HTTPSending, configuration: ProviderConfiguration, fields: GooglePlacesFields = .enterprise
    ) {
        self.http = http
        requests = GooglePlacesRequests(configuration: configuration, fields: fields)
    }

    public func refusal(of request: SearchRequest) -> SearchError? { nil }

    public func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass {
        switch request.operation {
        case .search:
            GooglePlacesRequests.needsTextSearch(request) ? requests.fields.textClass : requests.fields.nearbyClass
        case .details: requests.fields.detailsClass
        case .photo: followUp == nil ? .placeDetailsIDsOnly : .placeDetailsPhotos
        }
    }

    public func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        try requests.configuration.checkKey(of: id)

        let answer: ProviderAnswer
        switch request.operation {
        case .search: answer = try await search(request, before: deadline)
        case .details: answer = try await details(request, before: deadline)
        case .photo:
            guard let followUp else { return .needsCall(try await photoName(request, before: deadline)) }
            answer = try await picture(followUp, before: deadline)
        }

        try requests.configuration.checkSilence(of: answer, from: id)
        return .answer(answer)
    }

    private func search(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        let isText = GooglePlacesRequests.needsTextSearch(request)
        let page = try await page(
            isText ? requests.text(request) : requests.nearby(request), kind: .list, before: deadline)
        guard !page.list.isHopeless else { throw .badResponse("has no readable place", from: id) }
        var places = page.list.places
        if isText, let centre = request.location {
            // Text search is restricted by a box, whose corners are outside the requested circle.
            places.removeAll { place in place.location.map { centre.distance(to: $0) > request.radiusMeters } ?? false }
        }
        return ProviderAnswer(
            places: places, nextPageToken: page.nextPageToken, attributions: page.credits.texts,
            unreadablePlaces: page.list.unreadable)
    }

    private func details(
        _ request: SearchRequest, before deadline: Deadline
    ) async throws(SearchError) -> ProviderAnswer {
        let page = try await page(requests.details(request), kind: .place(id: request.placeID ?? ""), before: deadline)
        guard !page.list.places.isEmpty else { throw .badResponse("has no readable place", from: id) }
        return ProviderAnswer(places: page.list.places, attributions: page.credits.texts)
    }

    /// Looks up the name of a place's photo. Names expire, so none is kept from an earlier answer.
    private func photoName(
        _ request: SearchRequest, before deadline: Deadline
    ) async throws(SearchError) -> FollowUpCall {
        let page = try await page(
            requests.photoNames(request), kind: .place(id: request.placeID ?? ""), before: deadline)
        guard let name = page.photoName else {
            throw SearchError(.notFound, "google-places has no photo of this place")
        }
        return FollowUpCall(number: 2, subject: name, attributions: page.credits.texts)
    }

    /// Requests the address of the photo that `photoName` found.
    private func picture(_ call: FollowUpCall, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer {
        let media = try await page(requests.media(call.subject ?? ""), kind: .media, before: deadline)
        guard let url = media.photoURL else { throw .badResponse("lacks photoUri", from: id) }
        return ProviderAnswer(photoURL: url, attributions: call.attributions)
    }

    /// Checks whether a place exists: the cheapest call.
    func lookUpID(of placeID: String, before deadline: Deadline) async throws(SearchError) {
        try requests.configuration.checkKey(of: id)
        _ = try await page(requests.id(of: placeID), kind: .place(id: placeID), before: deadline)
    }

    private func page(
        _ request: HTTPRequest, kind: GooglePlacesResponse.Kind, before deadline: Deadline
    ) async throws(SearchError) -> GooglePlacesResponse {
        try await http.ask(request, of: id, with: requests.configuration.key, before: deadline) {
            (response) throws(SearchError) in
            try GooglePlacesResponse.read(response, as: kind)
        }
    }
}
