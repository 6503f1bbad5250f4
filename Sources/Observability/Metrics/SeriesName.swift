/// The name of a metric with its labels, as the exposition writes them.
struct SeriesName: Hashable, Comparable {
    let label: String
    let dimensions: String
    static func < (a: SeriesName, b: SeriesName) -> Bool { (a.label, a.dimensions) < (b.label, b.dimensions) }
}
