/// The committed offsets of a group on a topic. They show whether a partition without a commit was added later.
package struct GroupHistory {
    /// The beginning of the note that `StartFinder` commits with a start offset. The note is the first field of the
    /// metadata. A worker that commits other metadata for the same offset keeps the note as one of its fields.
    package static let notePrefix = "began with partitions="

    private let hasCommitted: Bool
    /// The highest number of partitions in any note, taken when a member found the group's start; `nil` if no note is
    /// left.
    private let partitionsAtStart: Int32?

    /// - Parameter commits: The commits of all partitions of the topic.
    init(_ commits: some Collection<CommittedOffset>) {
        hasCommitted = !commits.isEmpty
        partitionsAtStart = commits.compactMap(Self.partitions).max()
    }

    /// Returns the note of a group that begins on a topic with this number of partitions.
    package static func note(partitions: Int) -> String { "\(notePrefix)\(partitions)" }

    /// Returns the number of partitions in a note; `nil` for any other field, or a damaged note.
    package static func partitions(in field: Substring) -> Int32? {
        // bounded: a text that is no number, or too large, gives nil
        field.hasPrefix(notePrefix) ? Int32(field.dropFirst(notePrefix.count)) : nil
    }

    /// Returns the number of partitions in the note of a commit; `nil` if it has none, or one copied from another
    /// offset.
    static func partitions(in commit: CommittedOffset) -> Int32? {
        let (base, fields) = commit.textFields
        return base == commit.offset ? fields.lazy.compactMap(partitions).first : nil
    }

    /// Returns whether a partition without a commit was added after the group had begun, so that all its records were
    /// written for the group.
    ///
    /// Commits alone do not show this: the members of a new group look up their partitions concurrently, and the last
    /// member finds the commits of the others. The note records which partitions existed then. It lasts until the
    /// partition's first request is done.
    func wasAddedLater(_ partition: TopicPartition) -> Bool {
        if let partitionsAtStart { return partition.partition >= partitionsAtStart }
        return hasCommitted
    }
}
