public import LocationSearch

/// The kind of a call, by which the calls of a day are counted and shown.
struct CallKind: Hashable {
    let operation: SearchOperation
    let priceClass: PriceClass

    /// All names, built once because every call needs one.
    private static let names: [CallKind: String] = {
        var names: [CallKind: String] = [:]
        for operation in SearchOperation.allCases {
            for priceClass in PriceClass.allCases {
                let kind = CallKind(operation: operation, priceClass: priceClass)
                names[kind] = "\(operation.rawValue)/\(priceClass.rawValue)"
            }
        }
        return names
    }()

    /// The operation and the price class, such as `search/nearby-search-pro`.
    var name: String { Self.names[self] ?? operation.rawValue }
}

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
