/// Creates the answer to a request of any API.
enum Answers {
    /// Returns the correct answer, which may be an error, for example about the key.
    static func reply(to request: IncomingRequest, with resources: LoopResources) -> Reply {
        if let error = keyError(of: request, configuration: resources.configuration) {
            return self.error(error, to: request)
        }

        return switch request.endpoint.api {
        case .hotpepper: HotpepperAPI(resources: resources, request: request).reply()
        case .googlePlacesLegacy: LegacyAPI(resources: resources, request: request).reply()
        case .googlePlaces: GooglePlacesAPI(resources: resources, request: request).reply()
        case nil: Reply.page(404, title: "Not Found")
        }
    }

    /// Returns an answer with an error, in the format of the called API.
    static func error(_ error: ProviderError, retryAfter: Int? = nil, to request: IncomingRequest) -> Reply {
        switch request.endpoint.api {
        case .hotpepper: HotpepperAPI.error(error, retryAfter: retryAfter)
        case .googlePlacesLegacy:
            LegacyAPI.error(error, retryAfter: retryAfter, isDetails: request.endpoint == .legacyDetails)
        case .googlePlaces: GooglePlacesError.reply(error, retryAfter: retryAfter)
        case nil: Reply.page(404, title: "Not Found")
        }
    }

    /// Returns an answer without places.
    static func nothing(to request: IncomingRequest) -> Reply {
        switch request.endpoint.api {
        case .hotpepper: HotpepperAPI.nothing
        case .googlePlacesLegacy: LegacyAPI.status("ZERO_RESULTS", isDetails: request.endpoint == .legacyDetails)
        case .googlePlaces, nil: Reply(Reply.json, body: "{}\n", outcome: "empty")
        }
    }

    /// Returns the error about the request's key; `nil` if the key is accepted.
    private static func keyError(of request: IncomingRequest, configuration: SimulatorConfiguration) -> ProviderError? {
        let api = request.endpoint.api
        guard let key = request.key, !key.isEmpty || api == .hotpepper else { return .keyMissing }
        if let only = configuration.apiKey { return key == only ? nil : .keyInvalid }
        if key.isEmpty || key.hasPrefix("wrong") { return .keyInvalid }
        if key.hasPrefix("denied") { return .denied }
        if key.hasPrefix("legacy-off"), api == .googlePlacesLegacy { return .legacyOff }
        return nil
    }
}
