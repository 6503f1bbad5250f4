import Foundation
import HTTPTransport
import LocationSearch
import TestSupport
import Testing

@testable import PlaceProviders

/// Damaged answers: whatever the bytes, there is an answer or an error, soon, and no more of it than the bytes hold.
struct FuzzTests {
    /// `LOCSEARCH_FUZZ_INPUTS` for more.
    private static let inputs = ProcessInfo.processInfo.environment["LOCSEARCH_FUZZ_INPUTS"].flatMap { Int($0) } ?? 6000

    /// Our own, and the recordings where they lie.
    private static let seeds: [[UInt8]] = {
        let own: [String] = [
            #"{"results":{"results_available":"2","results_start":1,"shop":[{"id":"J1","name":"\u3042\ud83c\udf5c","lat":"35.1","lng":139.2e0,"genre":{"name":"x"},"photo":{"pc":{"l":"https://a"}},"urls":{"pc":"u"}},{"id":"J2","name":"B","open":[1,2,{"a":[]}]}]}}"#,
            #"{"places":[{"id":"a","displayName":{"text":"A"},"location":{"latitude":1.5,"longitude":-2},"types":["x","y"],"priceLevel":"PRICE_LEVEL_FREE","photos":[{"name":"n","authorAttributions":[{"displayName":"d"}]}],"currentOpeningHours":{"openNow":true}}],"nextPageToken":"t"}"#,
            #"{"html_attributions":["h"],"results":[{"place_id":"p","name":"N","geometry":{"location":{"lat":1,"lng":2}},"rating":4.5,"types":["t"],"opening_hours":{"open_now":false}}],"status":"OK","next_page_token":"n"}"#,
            #"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"reason":"R","metadata":{"quota_limit":"PerDay"}},{"retryDelay":"3s"}]}}"#,
            #"{"results":{"error":[{"code":2000,"message":"m"}]}}"#,
        ]
        let providers = ["hotpepper", "google-places-new", "google-places-legacy"]
        let recorded = providers.flatMap { RecordingsTests.bodies(of: $0) }.map(\.body)
        return own.map { Array($0.utf8) } + recorded.filter { $0.count < 20_000 }
    }()

    private static let tokens: [[UInt8]] = tokenTexts.map { Array($0.utf8) }
    private static let tokenTexts: [String] = [
        "{", "}", "[", "]", "\"", "\\", ",", ":", "null", "true", "1e999", "-0", "\\ud800", "\\u0000", "\u{FEFF}", "<",
        " ",
    ]

    /// One to six changes: bits, bytes, cuts, repeats, grammar where it does not belong.
    static func mutate(_ seed: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = .random(in: .min ... .max, using: &random)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
            case 3: bytes.removeLast(bytes.count - place)
            case 4:
                let end = min(bytes.count, place + Int.random(in: 1...60, using: &random))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            default:
                let token = tokens[Int.random(in: 0..<tokens.count, using: &random)]
                bytes.insert(contentsOf: token, at: place)
            }
        }
        return bytes
    }

    @Test(arguments: [ProviderID.hotpepper, .googlePlaces, .googlePlacesLegacy])
    func damagedAnswersEndAsAnswersOrErrors(provider: ProviderID) async throws {
        var random = SplitMix64(state: 20_261_121)
        var (answers, errors) = (0, 0)
        for number in 0..<Self.inputs {
            let body = Self.mutate(Self.seeds[number % Self.seeds.count], &random)
            let status = number % 9 == 0 ? [400, 403, 404, 429, 500, 503].randomElement(using: &random) ?? 500 : 200
            let http = FakeHTTP([.success(HTTPResponse(status: status, body: body))])
            let service: any PlaceService =
                switch provider {
                case .hotpepper: Providers.hotpepper(http)
                case .googlePlaces: Providers.google(http)
                case .googlePlacesLegacy: Providers.legacy(http)
                }
            let request = number % 3 == 0 ? Providers.details("x") : Providers.search(limit: 100)
            do throws(SearchError) {
                let answer = try await service.ask(request)
                answers += 1
                #expect(answer.places.count <= body.count / 8)
                #expect(answer.places.allSatisfy { !$0.id.isEmpty && $0.id.utf8.count <= 3 * body.count })
                #expect(answer.places.allSatisfy { $0.location?.isValid ?? true })
            } catch {
                errors += 1
                #expect(!error.message.contains("\n"))
            }
        }
        // Neither everything nor nothing may pass: else the mutations prove nothing.
        #expect(answers > 0 && errors > 0)
    }
}
