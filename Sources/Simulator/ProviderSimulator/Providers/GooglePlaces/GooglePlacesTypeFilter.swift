/// The types of a nearby search of Google Places (New). A place must satisfy all four lists.
struct GooglePlacesTypeFilter {
    var included: [String] = []
    var excluded: [String] = []
    var includedPrimary: [String] = []
    var excludedPrimary: [String] = []

    /// Adds the conditions to a query.
    /// - Throws: `InvalidArgument` if a type is included and excluded.
    func apply(to query: inout PlaceQuery) throws(InvalidArgument) {
        for (wanted, unwanted) in [(included, excluded), (includedPrimary, excludedPrimary)] {
            if let type = wanted.first(where: unwanted.contains) {
                throw InvalidArgument("Conflicting types: \(type) is included and excluded.")
            }
        }

        let (wanted, unwanted) = (included, excluded)
        query.categories &= Category.mask { $0.isAny(of: wanted, orEmpty: true) && !$0.isAny(of: unwanted) }
        let (primary, otherPrimary) = (includedPrimary, excludedPrimary)
        guard !primary.isEmpty || !otherPrimary.isEmpty else { return }
        query.condition = { place, _ in
            // Some places have no primary type.
            guard place.hasPrimaryType else { return primary.isEmpty }
            let type = place.kind.primaryType
            return (primary.isEmpty || primary.contains(type)) && !otherPrimary.contains(type)
        }
    }
}

extension Category {
    fileprivate func isAny(of types: [String], orEmpty: Bool = false) -> Bool {
        types.isEmpty ? orEmpty : types.contains(where: self.types.contains)
    }
}
