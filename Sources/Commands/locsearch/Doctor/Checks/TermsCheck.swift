import LocationSearch

/// Reports Google's terms that concern the settings. The key's project and billing address are not known.
struct TermsCheck: DoctorCheck {
    static let name = "terms"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let settings = examination.settings
        guard !examination.reading.concerns(["googlePlaces.", "providers.order", "console.terms"]),
            let providers = try? settings.configuredProviders(), providers.contains(.googlePlaces)
        else { throw SkippedCheck("Google has no readable key") }

        let legacy = "Google does not let new projects enable the API of google-places-legacy from October 2026"
        let isListed = settings.providerOrder().contains(.googlePlacesLegacy)
        return [
            isListed
                ? warning(
                    "\(legacy), and providers.order lists it",
                    cure: "list google-places instead, unless the key's project already has the older API")
                : ok("\(legacy); only requests that name it use it"),
            settings.text("console.terms") == "eea"
                ? ok("the console shows only ids and positions of Google's places (console.terms=eea)")
                : ok(
                    "for billing addresses in the EEA, Google's terms of July 2025 allow only ids and positions of its "
                        + "places with a map: set console.terms=eea there"),
        ]
    }
}
