@testable import LocationSearch

@testable import EventContract

/// Outcomes with invented content, to be encoded.
enum Outcomes {
    static let receivedAt = WallTime(milliseconds: 1_700_000_000_000)
    static let completedAt = WallTime(milliseconds: 1_700_000_000_087)
    static let traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    static let full = Place(
        id: "J001", provider: .hotpepper, name: "炭火\"灯り\"\\屋\n", category: "居酒屋", types: ["居酒屋", "和食"],
        location: Coordinate(latitude: 35.690921, longitude: -139.700258), distanceMeters: 119.5, address: "東京都",
        imageURL: "https://img.example/1.jpg", url: "https://www.example/J001/", rating: 4.1, ratingCount: 30,
        priceLevel: 0, openNow: false)
    static let bare = Place(id: "x", provider: .googlePlaces, name: "y")

    static func outcome(
        _ result: Result<SearchOutcome.Result, SearchError>, operation: SearchOperation = .search,
        tried: [ProviderID] = [], attempts: Int = 1
    ) -> SearchOutcome {
        SearchOutcome(
            requestID: "r-1", operation: operation, provider: .hotpepper, triedProviders: tried, sessionID: "s-1",
            result: result, upstream: .microseconds(87_900), attempts: attempts)
    }

    static let searched = SearchOutcome.Result(
        places: [full, bare], totalAvailable: 1234, nextPageToken: "21", attributions: ["Powered by Example"],
        search: .init(
            category: "restaurant", location: Coordinate(latitude: 35.69, longitude: 139.7), radiusMeters: 2000)
    )

    static func envelope(key: String? = nil, traced: Bool = false) -> RequestEnvelope {
        let trace =
            traced
            ? TraceContext(traceparent: Array(traceParent.utf8), tracestate: Array("a=b".utf8)) : nil
        return RequestEnvelope(source: Records.source, key: key.map { Array($0.utf8) }, trace: trace)
    }

    static func encode(_ outcome: SearchOutcome, for envelope: RequestEnvelope = envelope()) -> ProducerRecord {
        var encoder = OutcomeEncoder(seed: 1)
        return encode(outcome, for: envelope, by: &encoder)
    }

    static func encode(
        _ outcome: SearchOutcome, for envelope: RequestEnvelope = envelope(), by encoder: inout OutcomeEncoder,
        steps: RequestSteps? = nil
    ) -> ProducerRecord {
        encoder.encode(outcome, for: envelope, receivedAt: receivedAt, completedAt: completedAt, steps: steps)
    }

    static func encode(_ rejected: RejectedRecord) -> ProducerRecord {
        var encoder = OutcomeEncoder(seed: 1)
        return encoder.encode(rejected, receivedAt: receivedAt, completedAt: completedAt)
    }
}

extension ProducerRecord {
    var text: String { String(decoding: value ?? [], as: UTF8.self) }

    /// The `requestId` of the event; an empty text if it has none.
    var requestID: String { (try? OutcomeReader().read(value: value, headers: headers).requestID) ?? "" }
}

extension RecordHeader {
    /// `name=value`, for comparing.
    var line: String { "\(name)=\(text ?? "not text")" }
}
