internal import Basics

/// Sessions in the order of their last use. A session that is used again is appended again. Its older entry is recognised
/// by its time and skipped, which is cheaper than finding and removing it.
struct IdleQueue {
    struct Entry {
        let id: String
        let since: Instant
    }

    private var entries: [Entry] = []
    private var start = 0

    var count: Int { entries.count - start }
    var first: Entry? { start < entries.count ? entries[start] : nil }

    mutating func append(_ id: String, at now: Instant) { entries.append(Entry(id: id, since: now)) }

    /// Removes the first entry; there must be one.
    mutating func removeFirst() {
        start += 1
        if start > 64, start > entries.count / 2 {
            entries.removeFirst(start)
            start = 0
        }
    }

    mutating func keep(_ isGood: (Entry) -> Bool) {
        var ids: Set<String> = []
        entries = entries[start...].filter { isGood($0) && ids.insert($0.id).inserted }
        start = 0
    }
}
