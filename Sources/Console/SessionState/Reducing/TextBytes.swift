import EventContract
import LocationSearch

// The approximate memory of the texts of requests and outcomes, whose length is decided by others.

extension SearchRequest {
    var textBytes: Int {
        let texts = [requestID, category] + [sessionID, placeID, keyword, language, pageToken].compactMap(\.self)
        return (texts + options.categories + options.excludedCategories).textBytes
    }
}

extension OutcomeEvent {
    var textBytes: Int {
        let texts = [requestID] + [operation, provider, sessionID, id, source?.topic, traceID].compactMap(\.self)
        return texts.textBytes + triedProviders.textBytes + body.textBytes
    }
}

extension OutcomeEvent.Body {
    fileprivate var textBytes: Int {
        switch self {
        case .completed(let result):
            result.places.byteCount + result.attributions.textBytes
                + [result.nextPageToken, result.photoURL, result.search?.category].compactMap(\.self).textBytes
                + (result.search?.categories ?? []).textBytes
        case .failed(let failure):
            ([failure.code, failure.message]
                + [failure.providerStatus, failure.member, failure.limit, failure.account].compactMap(\.self)).textBytes
        }
    }
}

extension [String] {
    fileprivate var textBytes: Int {
        reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
    }
}
