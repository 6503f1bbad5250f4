internal import Basics

/// The members of a request that only some searches need. A provider that cannot serve one of them rejects the request.
public struct SearchOptions: Sendable, Hashable {
    /// The order of places: `rankBy`.
    public enum Ranking: String, CaseIterable, Sendable, Hashable {
        case distance
        /// The place that the provider ranks highest is first.
        case popularity
    }

    /// A part of places that a provider may charge for: `include`.
    public enum Part: String, CaseIterable, Sendable, Hashable {
        case businessStatus, openingHours
    }

    /// The prefix of a type that must be the primary type of a place, and not only one of its types.
    public static let primaryPrefix = "primary:"

    /// The types of which each place has at least one; empty: the request's `category`. At most 50, each of 1...64
    /// characters. All have the prefix `primary:`, or none has.
    public var categories: [String]
    /// The types that no place has. At most 50, each of 1...64 characters, some with the prefix `primary:`.
    public var excludedCategories: [String]
    /// The order of the places; `nil`: the provider's default.
    public var ranking: Ranking?
    /// The parts of places that are wanted in addition to those of the worker's settings.
    public var parts: Set<Part>

    public init(
        categories: [String] = [], excludedCategories: [String] = [], ranking: Ranking? = nil, parts: Set<Part> = []
    ) {
        (self.categories, self.excludedCategories) = (categories, excludedCategories)
        (self.ranking, self.parts) = (ranking, parts)
    }

    /// Returns the type in a category with the prefix `primary:`; `nil` without the prefix.
    public static func primaryType(of category: String) -> String? {
        category.hasPrefix(primaryPrefix) ? String(category.dropFirst(primaryPrefix.count)) : nil
    }

    /// True if places must have one of `categories` as their primary type.
    public var wantsPrimaryType: Bool { categories.contains { $0.hasPrefix(Self.primaryPrefix) } }

    /// Returns whether both ask for the same. Texts are compared by their bytes, as a provider does.
    public func areSpelt(as other: SearchOptions) -> Bool {
        ranking == other.ranking && parts == other.parts
            && categories.elementsEqual(other.categories) { $0.isSpelt(as: $1) }
            && excludedCategories.elementsEqual(other.excludedCategories) { $0.isSpelt(as: $1) }
    }

    /// A class, and not `Boxed`, because functions consume requests, and the compiler fails on an indirect enum there.
    final class Box: Sendable, Hashable {
        let options: SearchOptions

        init(_ options: SearchOptions) { self.options = options }

        static func == (left: Box, right: Box) -> Bool { left.options == right.options }

        func hash(into hasher: inout Hasher) { hasher.combine(options) }
    }
}
