/// The way from a request to its answer, for all three providers.
enum Answers {
    static func reply(to request: IncomingRequest, in workshop: Workshop) -> Reply {
        if let error = keyError(request, workshop.configuration) {
            return self.error(error, nil, to: request)
        }
        return switch request.endpoint.api {
        case .hotpepper: HotpepperAPI(workshop: workshop, request: request).reply()
        case .legacy: LegacyAPI(workshop: workshop, request: request).reply()
        case .new: NewAPI(workshop: workshop, request: request).reply()
        case nil: Reply.page(404, "Not Found")
        }
    }

    /// An error in the called provider's shape.
    static func error(_ error: ProviderError, _ hint: RetryHint?, to request: IncomingRequest) -> Reply {
        switch request.endpoint.api {
        case .hotpepper: HotpepperAPI.error(error, hint, format: HotpepperAPI.Format(request.query))
        case .legacy: LegacyAPI.error(error, hint, isDetails: request.endpoint == .legacyDetails)
        case .new: NewAPI.error(error, hint)
        case nil: Reply.page(404, "Not Found")
        }
    }

    /// An answer without places.
    static func nothing(to request: IncomingRequest) -> Reply {
        switch request.endpoint.api {
        case .hotpepper: HotpepperAPI.nothing(format: HotpepperAPI.Format(request.query))
        case .legacy: LegacyAPI.status("ZERO_RESULTS", isDetails: request.endpoint == .legacyDetails)
        case .new, nil: Reply(Reply.json, "{}\n", outcome: "empty")
        }
    }

    private static func keyError(_ request: IncomingRequest, _ configuration: SimulatorConfiguration) -> ProviderError?
    {
        let api = request.endpoint.api
        if api == .new, let token = request.bearer {
            return token.hasPrefix("expired") ? ProviderError.all["access_token_expired"] : nil
        }
        guard let key = request.key, !key.isEmpty || api == .hotpepper else { return .keyMissing }
        if let only = configuration.apiKey { return key == only ? nil : .keyInvalid }
        if key.isEmpty || key.hasPrefix("wrong") { return .keyInvalid }
        if key.hasPrefix("denied") { return .denied }
        if key.hasPrefix("legacy-off"), api == .legacy { return ProviderError.all["legacy-off"] }
        return nil
    }
}
