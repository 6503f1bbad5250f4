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

    static func bodies(of provider: String) -> [(name: String, body: [UInt8])] {
        let folder = folder.appending(path: provider)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            (try? Data(contentsOf: folder.appending(path: name))).map { (name, Array($0)) }
        }
    }

    private func check(_ places: Places, _ name: String) {
        for place in places {
            #expect(!place.id.isEmpty && !place.name.isEmpty, "\(name)")
            #expect(place.rating.map { (1...5).contains($0) } ?? true, "\(name)")
            #expect(place.location?.isValid ?? true, "\(name)")
        }
        #expect(Set(places.map(\.id)).count == places.count, "\(name)")
    }

    @Test(.enabled(if: isThere, "recordings of provider answers are not beside the repository"))
    func `Hotpeppers answers are read`() async throws {
        for (name, body) in Self.bodies(of: "hotpepper") where !name.hasPrefix("master") {
            let http = FakeHTTP([.success(HTTPResponse(status: 200, body: body))])
            let service = Providers.hotpepper(http)
            if name.hasPrefix("error-") {
                let code = await service.failure(Providers.search())?.code
                #expect(code == (name.contains("2000") ? .unauthorized : .invalidRequest), "\(name)")
                continue
            }
            let answer = try await service.ask(Providers.search(limit: 100))
            #expect(!answer.places.isEmpty, "\(name)")
            #expect(answer.unreadablePlaces == 0, "\(name)")
            #expect(answer.totalAvailable != nil, "\(name)")
            check(answer.places, name)
        }
    }

    @Test(.enabled(if: isThere, "recordings of provider answers are not beside the repository"))
    func `The legacy services answers are read`() async throws {
        for (name, body) in Self.bodies(of: "google-places-legacy") where name.hasSuffix(".json") {
            let service = Providers.legacy(FakeHTTP([.success(HTTPResponse(status: 200, body: body))]))
            let isDetails = name.hasPrefix("details")
            let request = isDetails ? Providers.details("x") : Providers.search()
            if name.contains("error") {
                let expected: SearchError.Code =
                    name.contains("not-found")
                    ? .notFound
                    : name.contains("limit") ? .rateLimited : name.contains("denied") ? .unauthorized : .invalidRequest
                #expect(await service.failure(request)?.code == expected, "\(name)")
                continue
            }
            if name.hasPrefix("findplace") { continue }  // a request that is never made
            let answer = try await service.ask(request)
            #expect(answer.unreadablePlaces == 0, "\(name)")
            #expect(answer.places.isEmpty == name.contains("zero"), "\(name)")
            if name.hasPrefix("nearby-20") {
                #expect(answer.places.count == 20 && answer.nextPageToken != nil, "\(name)")
            }
            if !isDetails { #expect(answer.places.allSatisfy { $0.location != nil }, "\(name)") }
            check(answer.places, name)
        }
    }

    @Test(.enabled(if: isThere, "recordings of provider answers are not beside the repository"))
    func `The new services answers are read`() async throws {
        for (name, body) in Self.bodies(of: "google-places-new") {
            func service(_ status: Int = 200) -> GooglePlacesService {
                Providers.google(FakeHTTP([.success(HTTPResponse(status: status, body: body))]))
            }
            if name.hasPrefix("error-"), let status = Int(name.dropFirst(6).prefix(3)) {
                let expected: SearchError.Code = status == 429 ? .rateLimited : .unauthorized
                #expect(await service(status).failure(Providers.search())?.code == expected, "\(name)")
            } else if name.hasPrefix("photo") {
                continue
            } else {
                let request = name.hasPrefix("search") ? Providers.search() : Providers.details("x")
                let answer = try await service().ask(request)
                #expect(answer.places.count == 1 && answer.unreadablePlaces == 0, "\(name)")
                #expect(answer.places.allSatisfy { $0.location != nil && $0.category != nil }, "\(name)")
                check(answer.places, name)
            }
        }
    }
}
