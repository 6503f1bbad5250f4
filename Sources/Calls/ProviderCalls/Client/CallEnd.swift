public import LocationSearch

/// The end of one call to a provider.
public enum CallEnd: Sendable, Hashable {
    case answered
    case failed(SearchError.Code)
    /// No request was waiting for the answer.
    case cancelled

    init(_ result: Result<ProviderReply, SearchError>) {
        self =
            switch result {
            case .success: .answered
            case .failure(let error): .failed(error.code)
            }
    }
}
