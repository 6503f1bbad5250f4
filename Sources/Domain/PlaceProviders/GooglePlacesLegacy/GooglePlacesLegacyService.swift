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

    public func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let placeID = request.placeID ?? ""
        switch request.operation {
        case .search:
            // The API refuses a radius together with an order by distance.
            let radius = request.options.ranking == .distance ? nil : request.radiusMeters.rounded(.up)
            let url = searchURL(request, radius: radius)
            return begin(url, before: deadline, then: end) { (response) throws(SearchError) in
                do throws(SearchError) {
                    var found = try LegacyResponse.read(response, asked: nil).found(radiusMeters: radius)
                    if radius == nil { Self.cut(&found, to: request) }
                    return .answer(found)
                } catch {
                    return .needsCall(try Self.retry(of: request, after: error, call: followUp?.number ?? 1))
                }
            }
        case .details:
            return begin(detailsURL(request), before: deadline, then: end) { (response) throws(SearchError) in
                .answer(try LegacyResponse.read(response, asked: placeID).details())
            }
        case .photo:
            if let followUp { return beginPicture(followUp, before: deadline, then: end) }
            return begin(detailsURL(request, fields: "photos"), before: deadline, then: end) {
                (response) throws(SearchError) in
                .needsCall(try LegacyResponse.read(response, asked: placeID).photoCall())
            }
        }
    }

    private func begin(
        _ url: String, before deadline: Deadline,
        then end: @escaping ProviderCompletion,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> ProviderReply
    ) -> (any Cancellable)? {
        api.begin(HTTPRequest(url: url), before: deadline, then: end, reading: read)
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
    private static func retry(
        of request: SearchRequest, after error: SearchError, call number: Int
    ) throws(SearchError) -> FollowUpCall {
        // HTTP 414 has the same code.
        let isRefused = error.code == .invalidRequest && error.providerStatus == "INVALID_REQUEST"
        guard isRefused, request.pageToken != nil, number < tokenAttempts else { throw error }
        return FollowUpCall(number: number + 1, delay: tokenDelay, failureIfLate: error)
    }

    /// Requests the address of the picture that the first call found.
    private func beginPicture(
        _ call: FollowUpCall, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        var url = QueryURL(api.configuration.baseURL, path: "/maps/api/place/photo")
        url.add("photo_reference", call.subject)
        url.add("maxwidth", 800)
        url.add("key", api.configuration.apiKey)
        return begin(url.text, before: deadline, then: end) { [self] (response) throws(SearchError) in
            .answer(ProviderAnswer(photoURL: try pictureURL(in: response), attributions: call.attributions))
        }
    }

    /// Returns the target of a redirect, which is not followed.
    private func pictureURL(in response: HTTPResponse) throws(SearchError) -> String {
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
        return location
    }

    private func searchURL(_ request: SearchRequest, radius: Double?) -> String {
        var url = QueryURL(api.configuration.baseURL, path: "/maps/api/place/nearbysearch/json")
        if let token = request.pageToken {
            // With a token, the API ignores all other parameters.
            url.add("pagetoken", token)
        } else if let location = request.location {
            url.add("location", "\(location.latitude.plainDecimal),\(location.longitude.plainDecimal)")
            url.add("radius", radius.map { "\(Int(saturating: $0))" })
            url.add("rankby", radius == nil ? "distance" : nil)
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
        let request = SearchRequest(requestID: "doctor", operation: .details, placeID: placeID)
        let url = detailsURL(request, fields: "place_id")
        try await api.ask(HTTPRequest(url: url), before: deadline) { (response) throws(SearchError) in
            _ = try LegacyResponse.read(response, asked: placeID)
            return .answer(ProviderAnswer())
        }
    }
}
