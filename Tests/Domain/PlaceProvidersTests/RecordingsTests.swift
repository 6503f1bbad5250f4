import Foundation
import HTTPTransport
import LocationSearch
import TestSupport
import Testing

@testable import PlaceProviders

/// Answers of real providers, if they exist beside the repository. They are other people's data and not part of it.
struct RecordingsTests {
    /// Set `LOCSEARCH_RECORDINGS` for another folder.
    private static let folder =
        ProcessInfo.processInfo.environment["LOCSEARCH_RECORDINGS"].map { URL(fileURLWithPath: $0) }
        ?? Repository.folder.resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "shared/fixtures")
    static let isThere = FileManager.default.fileExists(atPath: folder.path)

    static func bodies(of provider: ProviderID) -> [(name: String, body: [UInt8])] {
        let folder = folder.appending(path: provider == .googlePlaces ? "google-places-new" : provider.rawValue)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            (try? Data(contentsOf: folder.appending(path: name))).map { (name, Array($0)) }
        }
    }

    /// The files that answer no request of the worker.
    private static let unasked = ["master", "findplace-ja", "photo"]
    /// The codes of recorded failures, by a part of the file's name; the first that occurs counts.
    private static let codes: [(part: String, code: SearchError.Code)] = [
        ("429", .rateLimited), ("limit", .rateLimited), ("not-found", .notFound), ("denied", .unauthorized),
        ("error-2000", .unauthorized), ("error-4", .unauthorized), ("error", .invalidRequest),
    ]

    @Test(
        .enabled(if: isThere, "recordings of provider answers are not beside the repository"),
        arguments: ProviderID.allCases)
    func `Every place of a recorded answer is read`(provider: ProviderID) async throws {
        for (name, body) in Self.bodies(of: provider) where !Self.unasked.contains(where: name.hasPrefix) {
            let isDetails = name.hasPrefix("details") || name.hasPrefix("place")
            let request = isDetails ? Providers.details("x") : Providers.search(limit: 100)
            let status = provider == .googlePlaces ? Int(name.dropFirst("error-".count).prefix(3)) : nil
            let service = Providers.service(provider, FakeHTTP(bytes: body, status: status ?? 200))
            if let expected = Self.codes.first(where: { name.contains($0.part) }) {
                #expect(await service.failure(request)?.code == expected.code, "\(name)")
                continue
            }

            let answer = try await service.ask(request)
            #expect(answer.unreadablePlaces == 0, "\(name)")
            #expect(answer.places.isEmpty == name.contains("zero"), "\(name)")
            #expect((answer.totalAvailable != nil) == (provider == .hotpepper), "\(name)")
            if name.hasPrefix("nearby-20") {
                #expect(answer.places.count == 20 && answer.nextPageToken != nil, "\(name)")
            }
            if provider != .hotpepper, !isDetails {
                #expect(answer.places.allSatisfy { $0.location != nil }, "\(name)")
            }
            for place in answer.places {
                #expect(!place.id.isEmpty && !place.name.isEmpty, "\(name)")
                #expect(place.rating.map { (1...5).contains($0) } ?? true, "\(name)")
                #expect(place.location?.isValid ?? true, "\(name)")
            }
            #expect(Set(answer.places.map(\.id)).count == answer.places.count, "\(name)")
        }
    }
}
