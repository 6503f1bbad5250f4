public import HTTPTransport
public import LocationSearch
public import Resilience

/// Google Places, the legacy web service: nearby search, details, photo.
public struct GooglePlacesLegacyService: PlaceService {
    public let id = ProviderID.googlePlacesLegacy
    private let http: any HTTPSending
    private let configuration: ProviderConfiguration
    private let clock: any MonotonicClock

    /// Google's tokens of further pages work only after about this long.
    private static let tokenDelay: Duration = .seconds(2)
    private static let tokenAttempts = 4

    public init(
        http: any HTTPSending, configuration: ProviderConfiguration, clock: any MonotonicClock = ContinuousClock()
    ) {
        self.http = http
        self.configuration = configuration
        self.clock = clock
    }

    public func refusal(of request: SearchRequest) -> SearchError? { nil }

    public func answer(
        _ request: SearchRequest, before deadline: Deadline
    ) async throws(SearchError) -> ProviderAnswer {
        try configuration.checkKey(of: id)
        let answer =
            switch request.operation {
            case .search: try await search(request, before: deadline)
            case .details: try await details(request, before: deadline)
            case .photo: try await photo(request, before: deadline)
            }
        try configuration.checkSilence(of: answer, from: id)
        return answer
    }

    private func search(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        var attempt = 1
        while true {
            do throws(SearchError) {
                let page = try await page(searchURL(request), asked: nil, before: deadline)
                guard !page.list.isHopeless else { throw .badResponse("has no readable place", from: id) }
                return ProviderAnswer(
                    places: page.list.places, nextPageToken: page.nextPageToken, attributions: page.credits.texts,
                    unreadablePlaces: page.list.unreadable)
            } catch {
                // With a page token INVALID_REQUEST means "not yet", for some seconds.
                let now = clock.now
                guard error.code == .invalidRequest, request.pageToken != nil, attempt < Self.tokenAttempts,
                    deadline.remaining(at: now) > Self.tokenDelay
                else { throw error }
                attempt += 1
                guard (try? await clock.sleep(until: now + Self.tokenDelay, tolerance: nil)) != nil else { throw error }
            }
        }
    }

    private func details(
        _ request: SearchRequest, before deadline: Deadline
    ) async throws(SearchError) -> ProviderAnswer {
        let page = try await page(detailsURL(request, fields: nil), asked: request.placeID ?? "", before: deadline)
        guard !page.list.isHopeless, !page.list.places.isEmpty else {
            throw .badResponse("has no readable place", from: id)
        }
        return ProviderAnswer(places: page.list.places, attributions: page.credits.texts)
    }

    /// Two calls: the place's photo reference, then where the picture is. The redirect is read, not followed.
    private func photo(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
    {
        let page = try await page(detailsURL(request, fields: "photos"), asked: request.placeID ?? "", before: deadline)
        guard let reference = page.photoReference else {
            throw SearchError(.notFound, "google-places-legacy has no photo of this place")
        }
        var url = QueryURL(configuration.baseURL, path: "/maps/api/place/photo")
        url.add("photo_reference", reference)
        url.add("maxwidth", 800)
        url.add("key", configuration.apiKey)
        let response = try await http.ask(HTTPRequest(url: url.text), of: id, before: deadline) { $0 }
        guard (300..<400).contains(response.status) else {
            if response.status == 200 || response.status == 400 {
                throw SearchError(
                    .upstreamRejected, "google-places-legacy gave no picture for this place",
                    httpStatus: response.status)
            }
            // The key was good for the details just now.
            if response.status == 403 { throw .photoQuota(of: id) }
            throw SearchError(httpStatus: response.status, retryAfter: response.retryAfter, from: id)
        }
        guard let location = response.location, location.hasPrefix("https://") else {
            throw .badResponse("redirects to nowhere", from: id)
        }
        return ProviderAnswer(photoURL: location, attributions: page.credits.texts)
    }

    private func searchURL(_ request: SearchRequest) -> String {
        var url = QueryURL(configuration.baseURL, path: "/maps/api/place/nearbysearch/json")
        if let token = request.pageToken {
            // All else would be ignored.
            url.add("pagetoken", token)
        } else if let location = request.location {
            url.add("location", "\(location.latitude.plainDecimal),\(location.longitude.plainDecimal)")
            url.add("radius", Int(request.radiusMeters.rounded(.up)))
            url.add("type", request.category)
            // The same text in both can give no results.
            if request.keyword?.lowercased() != request.category.lowercased() { url.add("keyword", request.keyword) }
            url.add("language", request.language)
            // Its presence counts, whatever its value.
            if request.openNow == true { url.addFlag("opennow") }
        }
        url.add("key", configuration.apiKey)
        return url.text
    }

    private func detailsURL(_ request: SearchRequest, fields: String?) -> String {
        var url = QueryURL(configuration.baseURL, path: "/maps/api/place/details/json")
        url.add("place_id", request.placeID)
        url.add("fields", fields ?? LegacyResponse.detailsFields)
        url.add("language", request.language)
        url.add("key", configuration.apiKey)
        return url.text
    }

    private func page(
        _ url: String, asked: String?, before deadline: Deadline
    ) async throws(SearchError) -> LegacyResponse {
        try await http.ask(HTTPRequest(url: url), of: id, before: deadline) { (response) throws(SearchError) in
            try LegacyResponse.read(response, asked: asked)
        }
    }
}
