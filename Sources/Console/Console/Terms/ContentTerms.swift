internal import EventContract
internal import JSON
internal import LocationSearch

/// `console.terms`: Google's terms that decide which content of its places a page receives. Raw values are settings.
package enum ContentTerms: String, CaseIterable, Sendable {
    /// The terms for billing addresses outside of the European Economic Area: all content, but on no other map than Google's.
    case standard
    /// The terms for billing addresses in the European Economic Area since July 2025. Only coordinates and place ids may be
    /// used with a map, or for other than Google's list of purposes. Pages receive nothing else, whatever map they have.
    case eea

    /// The hosts that pictures may be fetched from.
    package var pictureHosts: [String] { ["imgfp.hotp.jp"] + (self == .eea ? [] : ["lh3.googleusercontent.com"]) }

    /// Returns whether a provider's content is restricted. An unknown or missing provider may be Google.
    func restricts(_ provider: ProviderID?) -> Bool { self == .eea && provider != .hotpepper }

    func allowed(_ places: Places) -> Places {
        guard places.rows.contains(where: { restricts($0.provider) }) else { return places }
        return Places(places.map { allowed($0) })
    }

    /// A restricted place keeps its id, also in place of its name, and its position.
    func allowed(_ place: Place) -> Place {
        guard restricts(place.provider) else { return place }
        var bare = Place(id: place.id, provider: place.provider, name: place.id)
        bare.location = place.location
        bare.distanceMeters = place.distanceMeters
        return bare
    }

    /// Returns the credits for what a page receives. Those of other sources, and of photos, are content themselves.
    func allowed(_ attributions: [String], of provider: ProviderID?) -> [String] {
        restricts(provider) ? attributions.filter { $0 == "Google Maps" } : attributions
    }

    /// Returns the value of an outcome's record; for a restricted result, only what identifies it and its places.
    /// - Parameter event: the outcome in the record; `nil` if it is not one. Its value is not returned if terms restrict it.
    func allowed(_ value: [UInt8]?, of event: OutcomeEvent?) -> [UInt8]? {
        guard self == .eea, value != nil else { return value }
        guard let event else { return nil }
        let provider = event.provider.flatMap(ProviderID.init)
        guard case .completed(let result) = event.body,
            restricts(provider) || result.places.rows.contains(where: { restricts($0.provider) })
        else { return value }

        return JSONWriter.object(capacity: 4096) { json in
            json.member("requestId", event.requestID)
            json.member("provider", event.provider)
            json.key("places")
            json.value(allowed(result.places))
            json.member("attributions", allowed(result.attributions, of: provider))
        }
    }
}
