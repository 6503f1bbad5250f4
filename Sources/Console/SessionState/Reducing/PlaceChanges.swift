import EventContract
import LocationSearch

/// The place of a details or photo request.
struct PlaceSubject {
    let id: String
    /// `nil` while the provider is not known.
    let provider: ProviderID?

    func matches(_ other: PlaceSubject) -> Bool {
        id == other.id && (provider == nil || other.provider == nil || provider == other.provider)
    }
}

extension Exchange {
    /// The place that the request is about; `nil` for a search, and for a photo whose request was not seen.
    var subject: PlaceSubject? {
        guard operation == .details || operation == .photo else { return nil }
        let place = result?.places.first
        guard let id = request?.placeID ?? place?.id else { return nil }

        let answered = place?.provider ?? outcome?.provider.flatMap(ProviderID.init)
        return PlaceSubject(id: id, provider: request?.provider.named ?? answered)
    }
}

/// The changes that details and pictures make to places.
struct PlaceChanges {
    private var details: [(subject: PlaceSubject, place: Place)] = []
    private var pictures: [(subject: PlaceSubject, url: String)] = []

    /// Adds the result of a details or photo request. Call it for older exchanges first.
    mutating func add(_ exchange: Exchange) {
        guard let subject = exchange.subject, let result = exchange.result else { return }

        if exchange.operation == .details, let place = result.places.first { details.append((subject, place)) }
        if let url = result.photoURL { pictures.append((subject, url)) }
    }

    /// Returns the places of all pages, without repetitions, with their changes.
    func applied(to pages: [Places]) -> Places {
        struct Name: Hashable {
            let id: String
            let provider: ProviderID
        }
        var names: Set<Name> = []
        let hasRepeats = !pages.joined().allSatisfy { names.insert(Name(id: $0.id, provider: $0.provider)).inserted }

        // Most lists are unchanged copies of their only page, and share its memory.
        if pages.count == 1, details.isEmpty, pictures.isEmpty, !hasRepeats { return pages[0] }

        names.removeAll()
        var changed = Places()
        for place in pages.joined() where names.insert(Name(id: place.id, provider: place.provider)).inserted {
            changed.append(applied(to: place))
        }
        changed.compact()
        return changed
    }

    private func applied(to place: Place) -> Place {
        let subject = PlaceSubject(id: place.id, provider: place.provider)
        var changed = place
        for change in details where change.subject.matches(subject) { changed.update(with: change.place) }
        if let url = imageURL(of: subject) { changed.imageURL = url }
        return changed
    }

    /// Returns the details of a place that is not in a list; `nil` without details. The place has the requested id, even if
    /// the provider answers with a newer one.
    func place(_ subject: PlaceSubject) -> Place? {
        guard var place = details.last(where: { $0.subject.matches(subject) })?.place else { return nil }
        place.id = subject.id
        place.provider = subject.provider ?? place.provider
        return applied(to: place)
    }

    /// Returns the most recently requested picture; `nil` without one.
    func imageURL(of subject: PlaceSubject) -> String? {
        pictures.last { $0.subject.matches(subject) }?.url
    }
}

extension Place {
    /// Applies the details of the place. Id, provider, and everything that the details leave out stay, such as the distance
    /// from the search's position.
    fileprivate mutating func update(with details: Place) {
        name = details.name
        category = details.category ?? category
        types = details.types.isEmpty ? types : details.types
        location = details.location ?? location
        distanceMeters = details.distanceMeters ?? distanceMeters
        address = details.address ?? address
        imageURL = details.imageURL ?? imageURL
        url = details.url ?? url
        rating = details.rating ?? rating
        ratingCount = details.ratingCount ?? ratingCount
        priceLevel = details.priceLevel ?? priceLevel
        openNow = details.openNow ?? openNow
        business.status = details.business.status ?? business.status
        if !details.business.openingHours.isEmpty { business.openingHours = details.business.openingHours }
    }
}
