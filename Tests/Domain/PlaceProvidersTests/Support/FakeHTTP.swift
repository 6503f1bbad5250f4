import Basics
import HTTPTransport
import LocationSearch
import PlaceProviders
import ProviderCalls
import Resilience
import Synchronization

/// Returns scripted answers, one after another, and records the requests.
final class FakeHTTP: HTTPSending {
    private let state: Mutex<(answers: [Result<HTTPResponse, HTTPError>], requests: [HTTPRequest])>

    init(_ answers: [Result<HTTPResponse, HTTPError>]) { state = Mutex((answers, [])) }

    convenience init(_ body: String) { self.init(200, body) }

    convenience init(_ status: Int, _ body: String, retryAfter: String? = nil) {
        self.init([.success(HTTPResponse(status, body, retryAfter: retryAfter, readAt: .now()))])
    }

    convenience init(bytes: [UInt8], status: Int = 200) {
        self.init([.success(HTTPResponse(status: status, body: bytes))])
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// The last answer serves all further calls.
    func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        end(answer)
        return nil
    }
}

extension HTTPResponse {
    init(
        _ status: Int, _ body: String, location: String? = nil, retryAfter: String? = nil,
        readAt: WallTime? = nil
    ) {
        self.init(status: status, body: Array(body.utf8), location: location, retryAfter: retryAfter, readAt: readAt)
    }
}

enum Providers {
    static let key = "SECRET-key-0123"

    static func hotpepper(_ http: FakeHTTP, response: HotpepperResponseType = .lite) -> HotpepperService {
        HotpepperService(
            http: http, configuration: ProviderConfiguration(baseURL: "https://hot.test", apiKey: key),
            response: response)
    }
    static func google(_ http: FakeHTTP, fields: GooglePlacesFields = .enterprise) -> GooglePlacesService {
        GooglePlacesService(
            http: http, configuration: ProviderConfiguration(baseURL: "https://new.test", apiKey: key), fields: fields)
    }
    static func legacy(_ http: FakeHTTP) -> GooglePlacesLegacyService {
        GooglePlacesLegacyService(
            http: http, configuration: ProviderConfiguration(baseURL: "https://old.test", apiKey: key))
    }

    static func service(
        _ provider: ProviderID, _ http: any HTTPSending, key: String = key, at url: String? = nil
    ) -> any PlaceService {
        func configuration(_ usual: String) -> ProviderConfiguration {
            ProviderConfiguration(baseURL: url ?? usual, apiKey: key)
        }
        return switch provider {
        case .hotpepper: HotpepperService(http: http, configuration: configuration("https://hot.test"))
        case .googlePlaces: GooglePlacesService(http: http, configuration: configuration("https://new.test"))
        case .googlePlacesLegacy:
            GooglePlacesLegacyService(http: http, configuration: configuration("https://old.test"))
        }
    }

    static func all(_ http: any HTTPSending, key: String = key) -> [any PlaceService] {
        ProviderID.allCases.map { service($0, http, key: key) }
    }

    static func request(_ operation: SearchOperation, _ id: String = "asked") -> SearchRequest {
        switch operation {
        case .search: search()
        case .details: details(id)
        case .photo: photo(id)
        }
    }

    static func search(
        category: String = "restaurant", radius: Double = 1500, keyword: String? = nil, language: String? = nil,
        openNow: Bool? = nil, limit: Int = 20, pageToken: String? = nil
    ) -> SearchRequest {
        SearchRequest(
            requestID: "r", category: category, location: Coordinate(latitude: 35.6895, longitude: 139.69171234567),
            radiusMeters: radius, keyword: keyword, language: language, openNow: openNow, limit: limit,
            pageToken: pageToken)
    }

    static func details(_ id: String, language: String? = nil) -> SearchRequest {
        SearchRequest(requestID: "r", operation: .details, language: language, placeID: id)
    }

    static func photo(_ id: String) -> SearchRequest {
        SearchRequest(requestID: "r", operation: .photo, placeID: id)
    }
}

extension PlaceService {
    /// Makes all the calls that a request needs, without the waits between them.
    func ask(_ request: SearchRequest) async throws(SearchError) -> ProviderAnswer {
        var followUp: FollowUpCall?
        while true {
            switch try await reply(to: request, followUp: followUp) {
            case .answer(let answer): return answer
            case .needsCall(let next): followUp = next
            }
        }
    }

    /// Makes one call.
    func reply(to request: SearchRequest, followUp: FollowUpCall? = nil) async throws(SearchError) -> ProviderReply {
        try await call(for: request, followUp: followUp, before: Deadline(.now + .seconds(30)))
    }

    func failure(_ request: SearchRequest) async -> SearchError? {
        do throws(SearchError) {
            _ = try await ask(request)
            return nil
        } catch {
            return error
        }
    }
}
