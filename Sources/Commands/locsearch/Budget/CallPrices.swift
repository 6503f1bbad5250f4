import Console
import EventContract
import HTTPTransport
import LocationSearch
import PlaceProviders

/// The SKUs of the calls that requests need, by the settings. Makes no call.
struct CallPrices: Sendable {
    /// Services are made for their price classes only.
    private struct NoTransport: HTTPSending {
        func begin(
            _ request: HTTPRequest, before deadline: Instant,
            then end: @escaping HTTPCompletion
        ) -> (any Cancellable)? {
            end(.failure(HTTPError(.connect, "prices need no call")))
            return nil
        }
    }

    let list: PriceList
    private let services: [any PlaceService]

    /// - Throws: `SettingsError` if `prices.file` has a fault.
    init(_ settings: Settings) throws(SettingsError) {
        list = try settings.prices()
        let (http, configuration) = (NoTransport(), ProviderConfiguration(baseURL: "", key: ProviderKey("")))
        services = [
            GooglePlacesService(http: http, configuration: configuration, fields: settings.googlePlacesFields),
            GooglePlacesLegacyService(http: http, configuration: configuration),
            HotpepperService(http: http, configuration: configuration, response: settings.hotpepperResponse),
        ]
    }

    /// Returns the price classes of a request's calls at a provider without retries: that of the first call, and that of
    /// the second one if it is different, as for a photo.
    func classes(of request: SearchRequest, at provider: ProviderID) -> [PriceClass] {
        guard let service = services.first(where: { $0.id == provider }) else { return [] }
        let first = service.priceClass(of: request, followUp: nil)
        let second = service.priceClass(of: request, followUp: FollowUpCall(number: 2))
        return first == second ? [first] : [first, second]
    }
}

extension CallPrices {
    /// Returns the list price of all calls for a request's decisive outcome, also of failed ones. Outcomes have no SKUs, so
    /// they follow from the record and these settings.
    /// - Returns: nothing for providers without a price, or if it is not known which provider got how many calls: several
    ///   were tried, and the outcome has no steps.
    func charges(of life: RequestLife, decoder: RequestDecoder) -> [PriceList.Cost] {
        guard let record = life.request, let event = life.outcome?.event, let calls = Self.callsByProvider(event),
            let request = try? decoder.decode(
                ConsumerRecord(source: life.source, value: record.value, headers: record.headers)
            ).request
        else { return [] }

        var counts: [PriceClass: Int] = [:]
        for (provider, count) in calls where count > 0 {
            let classes = classes(of: request, at: provider).prefix(count)
            for priceClass in classes { counts[priceClass, default: 0] += 1 }
            // Any of a photo's calls may have been repeated.
            let dearest = classes.max { list.price(of: $0) < list.price(of: $1) }
            if let dearest { counts[dearest, default: 0] += count - classes.count }
        }
        return list.listCosts(of: counts).filter { $0.amount != nil }
    }

    /// The number of calls to each provider; `nil` if unknown.
    private static func callsByProvider(_ event: OutcomeEvent) -> [ProviderID: Int]? {
        if let steps = event.steps, !steps.areCut, !steps.steps.isEmpty {
            let calls = steps.steps.filter { $0.kind == RequestStep.Kind.call.rawValue }
            return Dictionary(grouping: calls.compactMap { ProviderID(rawValue: $0.provider) }) { $0 }
                .mapValues(\.count)
        }
        // A record may hold any number. A request has at most ten attempts at each provider.
        guard event.triedProviders.count < 2, let provider = event.provider.flatMap(ProviderID.init),
            let attempts = event.attempts, (0...100).contains(attempts)
        else { return nil }
        return [provider: attempts]
    }
}

extension PriceList {
    /// Formats an amount of millionths, at least 0, with two to six digits after the point, such as `3,465.00`.
    static func text(_ amount: Int) -> String {
        var fraction = String("\(1_000_000 + amount % 1_000_000)".dropFirst())
        while fraction.count > 2, fraction.last == "0" { fraction.removeLast() }
        return "\((amount / 1_000_000).grouped).\(fraction)"
    }
}
