/// A validated field mask of Google Places (New).
final class GooglePlacesMask {
    /// The requested members of each place; `nil` if there are none.
    let places: FieldMask?
    let wantsPageToken: Bool
    /// The name of the SKU that Google bills for an answer.
    let sku: String
    /// A number that distinguishes fragments rendered with different masks.
    let number: UInt32

    /// Validates a mask from a request.
    /// - Throws: `InvalidArgument` that names the first path that does not exist in the answer.
    init(_ text: String, for call: GooglePlacesTier.Call, number: UInt32) throws(InvalidArgument) {
        self.number = number
        let paths = text.split(separator: ",", omittingEmptySubsequences: false)
        if paths == ["*"] {
            (places, wantsPageToken) = (FieldMask(paths: ["*"]), call == .text)
            sku = GooglePlacesTier.sku(of: call, paths: paths)
            return
        }

        var (wanted, token) = ([Substring](), false)
        for path in paths {
            guard call != .details else {
                wanted.append(try Self.checked(path, in: path))
                continue
            }
            switch path {
            case "places": wanted.append("*")
            case "nextPageToken" where call == .text: token = true
            // The simulator has no values for these.
            case "searchUri" where call == .text: break
            case "routingSummaries", "contextualContents": break
            default:
                guard path.hasPrefix("places.") else { throw Self.unknownPath(path) }
                wanted.append(try Self.checked(path.dropFirst("places.".count), in: path))
            }
        }

        sku = GooglePlacesTier.sku(of: call, paths: wanted)
        (places, wantsPageToken) = (wanted.isEmpty ? nil : FieldMask(paths: wanted), token)
    }

    private static func checked(_ path: Substring, in whole: Substring) throws(InvalidArgument) -> Substring {
        guard let first = path.split(separator: ".", omittingEmptySubsequences: false).first, fields.contains(first)
        else { throw unknownPath(whole) }
        return path
    }

    private static func unknownPath(_ path: Substring) -> InvalidArgument {
        InvalidArgument(
            "Error expanding 'fields' parameter. Cannot find matching fields for path '\(path.prefix(100))'.")
    }

    /// The names of all members of a place.
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
