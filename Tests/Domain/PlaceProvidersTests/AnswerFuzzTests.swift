import HTTPTransport
import LocationSearch
import TestSupport
import Testing

@testable import PlaceProviders

/// Damaged answers: any bytes lead to an answer or an error, soon, with no more content than the bytes have.
struct AnswerFuzzTests {
    private static let inputs = SplitMix64.inputs(usually: 20_000)

    /// A provider's answers and their requests: the fixtures, and the recordings if they exist. Large ones are used only in a long run.
    private struct Seeds {
        var answers: [(body: [UInt8], request: SearchRequest)] = []
        var errors: [[UInt8]] = []
        var all: [[UInt8]] { answers.map(\.body) + errors }

        init(of provider: ProviderID) throws {
            for recorded in try RecordedAnswer.all() where recorded.provider == provider {
                add(recorded.path.split(separator: "/").last ?? "", try recorded.body())
            }
            let most = inputs > 50_000 ? 60_000 : 4000
            for (name, body) in RecordingsTests.bodies(of: provider) where body.count < most {
                add(name[...], body)
            }
        }

        private mutating func add(_ name: Substring, _ body: [UInt8]) {
            if name.contains("error") || !name.hasSuffix("json") { return errors.append(body) }
            let request =
                name.hasPrefix("details")
                ? [Providers.details("x"), Providers.photo("x")] : [Providers.search(limit: 100)]
            answers += request.map { (body, $0) }
        }
    }

    private static let tokens =
        [
            "{", "}", "[", "]", "\"", "\\", ",", ":", "null", "true", "1e999", "-0", "\\ud800", "\\u0000", "\u{FEFF}",
            "<", " ", "é",
        ].map { Array($0.utf8) } + [[0x00], [0xFF], [0xC3], [0xED, 0xA0, 0x80]]
    private static let values = [
        "null", "true", "0", "-1", "35.5", "1e-400", "1e999", "99999999999999999999", "\"\"", "\"OK\"", "\"35.5\"",
        "\"nan\"", "\"\\u0000\"", "{}", "[]", "[{}]", "{\"id\":\"x\"}", "[1,\"a\",null]",
    ].map { Array($0.utf8) }
    private static let members = [
        "\"error\":{},", "\"status\":\"OK\",", "\"id\":\"x\",", "\"name\":null,", "\"location\":{\"latitude\":91},",
        "\"x\":[[]],",
    ].map { Array($0.utf8) }

    /// Applies one to four changes: bits, bytes, cuts, repetitions, misplaced grammar, and pieces of another answer. Other values and
    /// additional members usually keep the JSON valid.
    private static func mutate(_ seed: [UInt8], with other: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        func pick(_ choices: [[UInt8]]) -> [UInt8] { choices[Int.random(in: 0..<choices.count, using: &random)] }
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = .random(in: .min ... .max, using: &random)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
            case 3: if Bool.random(using: &random) { bytes.removeLast(bytes.count - place) }
            case 4:
                let end = min(bytes.count, place + Int.random(in: 1...60, using: &random))
                bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 5 where !other.isEmpty:
                let start = Int.random(in: 0..<other.count, using: &random)
                let end = min(other.count, start + Int.random(in: 1...200, using: &random))
                bytes.insert(contentsOf: other[start..<end], at: place)
            case 6: bytes.insert(contentsOf: pick(tokens), at: place)
            default:
                guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")), colon + 1 < bytes.count else {
                    break
                }
                let start = colon + 1
                let end = bytes[start...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}")].contains($0) } ?? start
                switch bytes[start] {
                case UInt8(ascii: "{"): bytes.insert(contentsOf: pick(members), at: start + 1)
                case UInt8(ascii: "["): bytes.insert(contentsOf: pick(values) + [UInt8(ascii: ",")], at: start + 1)
                default: bytes.replaceSubrange(start..<end, with: pick(values))
                }
            }
        }
        return bytes
    }

    @Test(arguments: ProviderID.allCases)
    func `Damaged answers end as answers or errors`(provider: ProviderID) async throws {
        let seeds = try Seeds(of: provider)
        // An answer of another provider counts as damage too.
        let others = try ProviderID.allCases.flatMap { try Seeds(of: $0).all }
        var random = SplitMix64(state: 20_261_121)
        var (answers, errors) = (0, 0)
        for number in 0..<Self.inputs {
            let isError = number % 5 == 0
            let (seed, request) = seeds.answers[number % seeds.answers.count]
            let other = others[Int.random(in: 0..<others.count, using: &random)]
            let body = Self.mutate(isError ? seeds.errors[number % seeds.errors.count] : seed, with: other, &random)
            let status = isError ? [200, 302, 400, 403, 404, 429, 500].randomElement(using: &random) ?? 500 : 200
            // A picture needs a second call at Google.
            let picture = HTTPResponse(status: 302, location: "https://pictures.example/1")
            let http = FakeHTTP([.success(HTTPResponse(status: status, body: body)), .success(picture)])
            do throws(SearchError) {
                let answer = try await Providers.service(provider, http).ask(request)
                answers += 1
                let fault = Self.fault(of: answer, body)
                #expect(fault == nil, "input \(number)")
            } catch {
                errors += 1
                let fault = Self.fault(of: error)
                #expect(fault == nil, "input \(number)")
            }
            // Lets other tests run.
            if number % 64 == 0 { await Task.yield() }
        }
        // Both cases must occur: otherwise the mutations test nothing.
        #expect(min(answers, errors) > Self.inputs / 10, "\(answers) answers, \(errors) errors")
    }

    /// Shops with the same layout are read with the help of the previous one's layout.
    ///
    /// An empty list in each of them prevents that, and must not change the result: neither the content of damaged shops, nor the error.
    @Test func `Shops are read in the same way with and without a layout`() async throws {
        func ask(_ shops: [[UInt8]], insertion: String) async -> Result<ProviderAnswer, SearchError> {
            let list = shops.map { $0.prefix(1) + Array(insertion.utf8) + $0.dropFirst() }
            let body =
                Array(#"{"results":{"results_available":9,"shop":["#.utf8) + list.joined(separator: [0x2C])
                + Array("]}}".utf8)
            do throws(SearchError) {
                let http = FakeHTTP(bytes: body)
                return .success(try await Providers.hotpepper(http).ask(Providers.search(limit: 100)))
            } catch {
                return .failure(error)
            }
        }

        var random = SplitMix64(state: 11)
        var answers = 0
        for number in 0..<Self.inputs / 4 {
            let shops = (0..<5).map { index in
                let shop = Array(
                    (#"{"id":"J\#(index)","name":"鳥 \#(number)","address":"中央区\#(index)-2","lat":"35.6","lng":139.7,"capacity":12,"#
                        + #""genre":{"code":"G1","name":"居酒屋"},"urls":{"pc":"https://shops.example.jp/\#(index)"},"#
                        + #""photo":{"mobile":{"l":"m","s":""},"pc":{"l":"l","m":"\/","s":""}}}"#).utf8)
                // The first five bytes stay, so that the list can be inserted after the first one.
                return number % 8 == 0
                    ? shop : shop.prefix(5) + Self.mutate(Array(shop.dropFirst(5)), with: [], &random)
            }
            let (along, apart) = (await ask(shops, insertion: ""), await ask(shops, insertion: #""x":[],"#))
            if case .success = along { answers += 1 }
            #expect(along == apart, "\(String(decoding: Array(shops.joined(separator: [0x2C])), as: UTF8.self))")
            if number % 64 == 0 { await Task.yield() }
        }
        #expect(answers > Self.inputs / 32)
    }

    /// All content of an answer comes from the bytes: no text is copied more often than a place's members use it.
    private static func fault(of answer: ProviderAnswer, _ body: [UInt8]) -> String? {
        var size = 0
        for place in answer.places {
            guard !place.id.isEmpty, !place.name.isEmpty else { return "a place without id or name" }
            guard place.location?.isValid ?? true else { return "a place off the map" }
            guard place.rating.map({ (1...5).contains($0) }) ?? true else { return "a rating out of range" }
            guard place.priceLevel.map({ (0...4).contains($0) }) ?? true else { return "a price out of range" }
            let texts = [place.id, place.name, place.category, place.address, place.imageURL, place.url]
            size += (texts.compactMap(\.self) + place.types).reduce(0) { $0 + $1.utf8.count }
        }
        if answer.places.count + answer.unreadablePlaces > body.count / 2 + 1 { return "more places than bytes" }
        if size > 4 * body.count { return "more text than bytes" }
        if Set(answer.places.map(\.id)).count != answer.places.count { return "a place twice" }
        if answer.attributions.isEmpty || answer.attributions.count > body.count / 4 + 2 { return "attributions" }
        if answer.photoURL.map({ !$0.hasPrefix("http") }) ?? false { return "a picture that is no URL" }
        return nil
    }

    private static func fault(of error: SearchError) -> String? {
        if error.message.contains("\n") || error.message.utf8.count > 200 { return "message" }
        if "\(error)".contains(Providers.key) { return "the key" }
        if (error.providerStatus?.utf8.count ?? 0) > 64 { return "provider's status" }
        return error.retryAfter.map { $0 > .zero && $0 <= .seconds(3600) } ?? true ? nil : "retry after"
    }

    // MARK: - Large inputs

    private static func repeated(_ text: (Int) -> String) -> String { (0..<60_000).map(text).joined(separator: ",") }

    /// Bodies near the limit of two megabytes with as many entries as fit: the time must grow with the size, not its square.
    @Test func `Many small entries take time in proportion to their size`() async throws {
        let shops = Self.repeated { #"{"id":"\#($0)","name":"n"}"# }
        let hotpepper = try await Providers.hotpepper(FakeHTTP(#"{"results":{"shop":[\#(shops)]}}"#)).ask(
            Providers.search())
        #expect(hotpepper.places.count == 60_000)

        let credits = Self.repeated { #"{"provider":"\#($0)"}"# }
        let google = try await Providers.google(FakeHTTP(#"{"places":[{"id":"a","attributions":[\#(credits)]}]}"#)).ask(
            Providers.search())
        #expect(google.attributions.count == 60_001)

        let texts = Self.repeated { #""\#($0)""# }
        let places = Self.repeated { #"{"place_id":"\#($0 % 500)","name":"n"}"# }
        let legacy = try await Providers.legacy(
            FakeHTTP(#"{"html_attributions":[\#(texts)],"results":[\#(places)],"status":"OK"}"#)
        ).ask(Providers.search())
        #expect(legacy.attributions.count == 60_001)
        #expect(legacy.places.count == 500)
    }

    @Test(arguments: ["[", #"{"results":"#, #"{"places":["#, #"{"error":"#, #""\\"#, "<", "\u{0}", " ", "9"])
    func `Two megabytes of one piece are an error`(piece: String) async {
        let body = String(repeating: piece, count: 2_000_000 / piece.utf8.count)
        for provider in ProviderID.allCases {
            for status in [200, 400] {
                #expect(await Providers.service(provider, FakeHTTP(status, body)).failure(Providers.search()) != nil)
            }
        }
    }
}
