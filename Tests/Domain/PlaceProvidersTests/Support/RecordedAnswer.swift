import Foundation
import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// An answer of `Fixtures/`: the shape of a real one, with invented content.
struct RecordedAnswer: CustomTestStringConvertible {
    let path: String

    init(_ path: String) { self.path = path }

    var testDescription: String { path }

    var provider: ProviderID {
        path.hasPrefix("hotpepper")
            ? .hotpepper : path.hasPrefix("google-places-new") ? .googlePlaces : .googlePlacesLegacy
    }

    func body() throws -> [UInt8] {
        let folder = try #require(Bundle.module.resourceURL).appending(path: "Fixtures")
        return Array(try Data(contentsOf: folder.appending(path: path)))
    }

    /// Returns the provider's service, which receives this answer to every request.
    func service(status: Int = 200) throws -> any PlaceService {
        Providers.service(provider, FakeHTTP(bytes: try body(), status: status))
    }

    /// Returns all recorded answers.
    static func all() throws -> [RecordedAnswer] {
        let folder = try #require(Bundle.module.resourceURL).appending(path: "Fixtures").resolvingSymlinksInPath()
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return names.filter { $0.contains(".") }.sorted().map(RecordedAnswer.init)
    }
}

extension Place {
    /// The line of a place in a table of expectations: `id · name · category · location · address · rating · price · open`.
    var line: String {
        let position = location.map { "\($0.latitude),\($0.longitude)" }
        let votes = ratingCount.map { "/\($0)" } ?? ""
        let columns: [String?] = [
            id, name, category, position, address, rating.map { "\($0)\(votes)" } ?? (votes.isEmpty ? nil : votes),
            priceLevel.map { "\($0)" }, openNow.map { $0 ? "open" : "closed" },
        ]
        return columns.map { $0 ?? "-" }.joined(separator: " · ")
    }
}
