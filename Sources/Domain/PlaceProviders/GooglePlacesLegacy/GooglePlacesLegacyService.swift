public import Basics
public import HTTPTransport
public import LocationSearch

/// The service for Google Places, the legacy web service: nearby search, details, photo.
public struct GooglePlacesLegacyService: PlaceService {
    public let id = ProviderID.googlePlacesLegacy
    private let api: ProviderAPI

    /// Google accepts a page token only after about this long.
    private static let tokenDelay: Duration = .seconds(2)
    /// The number of calls after which a refused token is reported as invalid.
    private static let tokenAttempts = 4

    /// Makes a service whose calls use `http`.
    public init(http: any HTTPSending, configuration: ProviderConfiguration) {
        api = ProviderAPI(id, http: http, configuration: configuration)
    }

    public func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass {
        switch request.operation {
        case .search: .legacyNearbySearch
        case .details: .legacyPlaceDetails
        case .photo: followUp == nil ? .legacyPlaceDetails : .legacyPlacePhoto
        }
    }

    public func refusal(of request: SearchRequest) -> SearchError? {
        guard request.hasOptions, request.operation == .search else { return nil }
        return request.options.refusal(
            by: id, gives: [.businessStatus],
            cure: "give one category without \"primary:\", no excludeCategories, and openingHours for details only")
    }

    public func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        try api.checkKey()

        let answer: ProviderAnswer
        switch request.operation {
        case .search:
            do throws(SearchError) {
                var found = try await page(searchURL(request), asked: nil, before: deadline).found()
                if request.options.ranking == .distance { Self.cut(&found, to: request) }
                answer = found
            } catch {
                return .needsCall(try retry(of: request, after: error, call: followUp?.number ?? 1))
            }
        case .details:
            answer = try await page(detailsURL(request), asked: request.placeID ?? "", before: deadline).details()
        case .photo:
            guard let followUp else {
                let url = detailsURL(request, fields: "photos")
                let page = try await page(url, asked: request.placeID ?? "", before: deadline)
                return .needsCall(try page.photoCall())
            }
            answer = try await picture(followUp, before: deadline)
        }

        try api.checkSilence(of: answer)
        return .answer(answer)
    }

    /// Removes places beyond the radius, because a search by distance has none. Later pages are further away.
    private static func cut(_ answer: inout ProviderAnswer, to request: SearchRequest) {
        guard let centre = request.location else { return }
        let count = answer.places.count
        answer.places.removeAll { $0.location.map { centre.distance(to: $0) > request.radiusMeters } ?? false }
        if answer.places.count < count { answer.nextPageToken = nil }
    }

    /// Describes the call that requests a page again. For some seconds after a page token was issued, INVALID_REQUEST means
    /// that the token is not valid yet.
    /// - Throws: `error` itself if it has another meaning.
    private func retry(
        of request: SearchRequest, after error: SearchError, call number: Int
    ) throws(SearchError) -> FollowUpCall {
        guard error.code == .invalidRequest, request.pageToken != nil, number < Self.tokenAttempts else { throw error }
        return FollowUpCall(number: number + 1, delay: Self.tokenDelay, failureIfLate: error)
    }

    /// Requests the address of the picture that the first call found. The redirect is read, not followed.
    private func picture(_ call: FollowUpCall, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer {
        var url = QueryURL(api.configuration.baseURL, path: "/maps/api/place/photo")
        url.add("photo_reference", call.subject)
        url.add("maxwidth", 800)
        url.add("key", api.configuration.apiKey)
        let response = try await api.ask(HTTPRequest(url: url.text), before: deadline) { $0 }

        guard (300..<400).contains(response.status) else {
            if response.status == 200 || response.status == 400 {
                throw SearchError(
                    .upstreamRejected, "google-places-legacy returned no photo of this place",
                    httpStatus: response.status)
            }
            // The key was valid for the details call just before.
            if response.status == 403 { throw .photoQuota(of: id) }
            throw SearchError(httpStatus: response.status, of: response, from: id)
        }
        guard let location = response.location, location.hasPrefix("https://"), WebAddress.isValid(location) else {
            throw .badResponse("is a redirect without a valid target", from: id)
        }
        return ProviderAnswer(photoURL: location, attributions: call.attributions)
    }

    private func searchURL(_ request: SearchRequest) -> String {
        var url = QueryURL(api.configuration.baseURL, path: "/maps/api/place/nearbysearch/json")
        if let token = request.pageToken {
            // With a token, the API ignores all other parameters.
            url.add("pagetoken", token)
        } else if let location = request.location {
            url.add("location", "\(location.latitude.plainDecimal),\(location.longitude.plainDecimal)")
            // The API refuses a radius together with this order.
            if request.options.ranking == .distance {
                url.add("rankby", "distance")
            } else {
                url.add("radius", Int(saturating: request.radiusMeters.rounded(.up)))
            }
            let type = request.wantedCategories[0]
            url.add("type", type)
            // The same text in both parameters can give no results.
            if request.keyword?.lowercased() != type.lowercased() { url.add("keyword", request.keyword) }
            url.add("language", request.language)
            // The API treats this parameter as true whenever it is present.
            if request.openNow == true { url.addFlag("opennow") }
        }
        url.add("key", api.configuration.apiKey)
        return url.text
    }

    private func detailsURL(_ request: SearchRequest, fields: String = LegacyResponse.detailsFields) -> String {
        var url = QueryURL(api.configuration.baseURL, path: "/maps/api/place/details/json")
        url.add("place_id", request.placeID)
        // Of the same price as the other fields.
        let wantsHours = request.operation == .details && request.options.parts.contains(.openingHours)
        url.add("fields", wantsHours ? fields + ",opening_hours/weekday_text" : fields)
        url.add("language", request.language)
        url.add("key", api.configuration.apiKey)
        return url.text
    }

    /// Checks whether a place exists: the cheapest call.
    func lookUpID(of placeID: String, before deadline: Deadline) async throws(SearchError) {
        try api.checkKey()
        let request = SearchRequest(requestID: "doctor", operation: .details, placeID: placeID)
        _ = try await page(detailsURL(request, fields: "place_id"), asked: placeID, before: deadline)
    }

    private func page(
        _ url: String, asked: String?, before deadline: Deadline
    ) async throws(SearchError) -> LegacyResponse {
        try await api.ask(HTTPRequest(url: url), before: deadline) { (response) throws(SearchError) in
            try LegacyResponse.read(response, asked: asked)
        }
    }
}
