package import Basics
package import LocationSearch

/// A provider whose key can be tested with a free call.
package protocol KeyTrial: PlaceService {
    /// A description of the call for a person, such as "a look-up of one place's id, which is free".
    var trialCall: String { get }

    /// Makes the provider's cheapest call.
    /// - Throws: `unauthorized` if the provider refuses the key, and other failures in the contract's terms.
    func tryKey(before deadline: Deadline) async throws(SearchError)
}

extension KeyTrial {
    /// Makes a call, and accepts any answer about the place as evidence of a valid key.
    func answering(_ call: () async throws(SearchError) -> Void) async throws(SearchError) {
        do throws(SearchError) {
            try await call()
        } catch {
            guard [.notFound, .invalidRequest].contains(error.code) else { throw error }
        }
    }
}

/// The place in the examples of Google's documentation.
private let knownPlace = "ChIJN1t_tDeuEmsRUsoyG83frY4"

extension HotpepperService: KeyTrial {
    package var trialCall: String { "a search for one shop by its id, free of charge" }

    package func tryKey(before deadline: Deadline) async throws(SearchError) {
        let request = SearchRequest(requestID: "doctor", operation: .details, placeID: "J000000001")
        try await answering { () throws(SearchError) in
            _ = try await call(for: request, followUp: nil, before: deadline)
        }
    }
}

extension GooglePlacesService: KeyTrial {
    package var trialCall: String { "details of one place with only its id, free of charge" }

    package func tryKey(before deadline: Deadline) async throws(SearchError) {
        try await answering { () throws(SearchError) in try await lookUpID(of: knownPlace, before: deadline) }
    }
}

extension GooglePlacesLegacyService: KeyTrial {
    package var trialCall: String { "details of one place with only its id, free of charge" }

    package func tryKey(before deadline: Deadline) async throws(SearchError) {
        try await answering { () throws(SearchError) in try await lookUpID(of: knownPlace, before: deadline) }
    }
}
