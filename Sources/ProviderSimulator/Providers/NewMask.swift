/// A field mask of Google's new API, checked.
final class NewMask {
    enum Call { case nearby, text, details }

    /// What of each place is wanted; `nil`: nothing of them.
    let places: FieldMask?
    let wantsPageToken: Bool
    let wantsSearchURI: Bool
    /// Tells rendered fragments apart. Below 2^20.
    let number: UInt32

    /// - Parameter text: the mask as it came.
    init(_ text: String, _ call: Call, number: UInt32) throws(Refusal) {
        self.number = number
        let paths = text.split(separator: ",", omittingEmptySubsequences: false)
        if paths == ["*"] {
            places = FieldMask(paths: ["*"])
            (wantsPageToken, wantsSearchURI) = (call == .text, call == .text)
            return
        }
        var (wanted, token, uri) = ([Substring](), false, false)
        for path in paths {
            guard call != .details else {
                wanted.append(try Self.checked(path, in: path))
                continue
            }
            switch path {
            case "places": wanted.append("*")
            case "nextPageToken" where call == .text: token = true
            case "searchUri" where call == .text: uri = true
            case "routingSummaries", "contextualContents": break
            default:
                guard path.hasPrefix("places.") else { throw Self.refusal(path) }
                wanted.append(try Self.checked(path.dropFirst("places.".count), in: path))
            }
        }
        places = wanted.isEmpty ? nil : FieldMask(paths: wanted)
        (wantsPageToken, wantsSearchURI) = (token, uri)
    }

    private static func checked(_ path: Substring, in whole: Substring) throws(Refusal) -> Substring {
        guard let first = path.split(separator: ".", omittingEmptySubsequences: false).first, fields.contains(first)
        else { throw refusal(whole) }
        return path
    }

    private static func refusal(_ path: Substring) -> Refusal {
        Refusal(
            message: "Error expanding 'fields' parameter. Cannot find matching fields for path '\(path.prefix(100))'.",
            field: String(path.prefix(100)))
    }

    private static let fields = Set(
        """
        name id displayName types primaryType primaryTypeDisplayName googleMapsTypeLabel nationalPhoneNumber
        internationalPhoneNumber formattedAddress shortFormattedAddress postalAddress addressComponents plusCode location
        viewport rating googleMapsUri googleMapsLinks websiteUri reviews reviewSummary regularOpeningHours timeZone photos
        adrFormatAddress businessStatus priceLevel attributions userRatingCount iconMaskBaseUri iconBackgroundColor takeout
        delivery dineIn curbsidePickup reservable servesBreakfast servesLunch servesDinner servesBeer servesWine
        servesBrunch servesVegetarianFood currentOpeningHours currentSecondaryOpeningHours regularSecondaryOpeningHours
        editorialSummary outdoorSeating liveMusic menuForChildren servesCocktails servesDessert servesCoffee
        goodForChildren allowsDogs restroom goodForGroups goodForWatchingSports paymentOptions parkingOptions subDestinations
        accessibilityOptions fuelOptions evChargeOptions evChargeAmenitySummary generativeSummary neighborhoodSummary
        containingPlaces addressDescriptor pureServiceAreaBusiness utcOffsetMinutes priceRange consumerAlert movedPlace
        movedPlaceId openingDate
        """.split(whereSeparator: \.isWhitespace))
}
