/// The offsets that a group has committed on a topic, and what they say of a partition for which it has committed
/// nothing.
package struct GroupHistory {
    /// How the note begins that `StartFinder` commits along with where a partition begins, as the first field of a text. A worker that
    /// commits more about the same offset keeps the note as one of the fields of its own text.
    package static let notePrefix = "began with partitions="

    private let hasCommitted: Bool
    /// The most partitions that the topic had when a member found where the group begins; `nil` where no note of it is left.
    private let partitionsAtStart: Int32?

    /// - Parameter commits: of all partitions of the topic.
    init(_ commits: some Collection<CommittedOffset>) {
        hasCommitted = !commits.isEmpty
        partitionsAtStart = commits.compactMap(Self.partitions).max()
    }

    /// Returns the note of a group that begins on a topic with so many partitions.
    package static func note(partitions: Int) -> String { "\(notePrefix)\(partitions)" }

    /// Returns the number of partitions in a note; `nil` for another field, and a damaged one.
    package static func partitions(in field: Substring) -> Int32? {
        // bounded: a text that is no number, or too large, gives nil
        field.hasPrefix(notePrefix) ? Int32(field.dropFirst(notePrefix.count)) : nil
    }

    /// Returns the number of partitions in the note beside an offset; `nil` where there is none that was written there.
    static func partitions(in commit: CommittedOffset) -> Int32? {
        let (base, fields) = commit.textFields
        return base == commit.offset ? fields.lazy.compactMap(partitions).first : nil
    }

    /// Returns whether a partition without a commit was added after the group had begun, so that what it holds was written
    /// for the group.
    ///
    /// Commits alone do not tell: the members of a new group look up their own partitions side by side, and the last of them
    /// finds what the others have committed already. The note says which partitions were there then. It lasts until the
    /// partition's first request is done.
    func wasAddedLater(_ partition: TopicPartition) -> Bool {
        if let partitionsAtStart { return partition.partition >= partitionsAtStart }
        return hasCommitted
    }
}
