public import HTTPTransport
public import LocationSearch
public import Resilience

/// Google Places API (New): nearby and text search, details, photo.
public struct GooglePlacesService: PlaceService {
    public let id = ProviderID.googlePlaces
    private let http: any HTTPSending
    private let requests: GooglePlacesRequests

    public init(http: any HTTPSending, configuration: ProviderConfiguration) {
        self.http = http
        requests = GooglePlacesRequests(configuration: configuration)
    }

    public func refusal(of request: SearchRequest) -> SearchError? { nil }

    public func answer(
        _ request: SearchRequest, before deadline: Deadline
    ) async throws(SearchError) -> ProviderAnswer {
        try requests.configuration.checkKey(of: id)
        let answer =
            switch request.operation {
            case .search: try await search(request, before: deadline)
            case .details: try await details(request, before: deadline)
            case .photo: try await photo(request, before: deadline)
            }
        try requests.configuration.checkSilence(of: answer, from: id)
        return answer
    }

    private func search(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        let isText = GooglePlacesRequests.needsTextSearch(request)
        let page = try await page(
            isText ? requests.text(request) : requests.nearby(request), kind: .list, before: deadline)
        guard !page.list.isHopeless else { throw .badResponse("has no readable place", from: id) }
        var places = page.list.places
        if isText, let centre = request.location {
            // Text search restricts by a box: its corners lie outside the circle that was asked for.
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

    /// Two calls: a photo's name expires, so it is got afresh.
    private func photo(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        let page = try await page(
            requests.photoNames(request), kind: .place(id: request.placeID ?? ""), before: deadline)
        guard let name = page.photoName else {
            throw SearchError(.notFound, "google-places has no photo of this place")
        }
        let media = try await self.page(requests.media(name), kind: .media, before: deadline)
        guard let url = media.photoURL else { throw .badResponse("lacks photoUri", from: id) }
        return ProviderAnswer(photoURL: url, attributions: page.credits.texts)
    }

    private func page(
        _ request: HTTPRequest, kind: GooglePlacesResponse.Kind, before deadline: Deadline
    ) async throws(SearchError) -> GooglePlacesResponse {
        try await http.ask(request, of: id, before: deadline) { (response) throws(SearchError) in
            try GooglePlacesResponse.read(response, as: kind)
        }
    }
}
