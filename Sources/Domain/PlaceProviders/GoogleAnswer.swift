import LocationSearch

/// An answer of one of Google's two APIs.
protocol GoogleAnswer {
    static var provider: ProviderID { get }
    /// The places that could be read.
    var list: PlaceList { get }
    /// The provider's token for the next page.
    var nextPageToken: String? { get }
    /// The provider's name of the first photo of a place.
    var photoName: String? { get }
    /// The credits: the source, third parties, and the authors of photos.
    var credits: Credits { get }
}

extension GoogleAnswer {
    /// Returns the answer to a search.
    /// - Parameter radiusMeters: the radius that was sent, if it may differ from the request's.
    func found(radiusMeters: Double? = nil) throws(SearchError) -> ProviderAnswer {
        guard !list.isHopeless else { throw .badResponse("has no readable place", from: Self.provider) }
        return ProviderAnswer(
            places: list.places, nextPageToken: nextPageToken, attributions: credits.texts,
            radiusMeters: radiusMeters, unreadablePlaces: list.unreadable)
    }

    /// Returns the answer to a details request.
    func details() throws(SearchError) -> ProviderAnswer {
        guard !list.isHopeless, !list.places.isEmpty else {
            throw .badResponse("has no readable place", from: Self.provider)
        }
        // An answer with a repeated member has several places, but details are about one place.
        var places = list.places
        places.keepFirst(1)
        return ProviderAnswer(places: places, attributions: credits.texts)
    }

    /// Returns the call for the place's photo. Its name expires, so none is kept from an earlier answer.
    func photoCall() throws(SearchError) -> FollowUpCall {
        guard let photoName else {
            throw SearchError(.notFound, "\(Self.provider.rawValue) has no photo of this place")
        }
        return FollowUpCall(number: 2, subject: photoName, attributions: credits.texts)
    }
}
