/// The offsets that a group has committed on a topic, and what they say of a partition for which it has committed
/// nothing.
package struct GroupHistory {
    /// How the note begins that `StartFinder` commits along with where a partition begins. A worker that commits more about the
    /// same offset keeps the note as one of the fields of its own metadata, which semicolons separate.
    package static let notePrefix = "began with partitions="

    private let hasCommitted: Bool
    /// The most partitions that the topic had when a member found where the group begins; `nil` where no note of it is left.
    private let partitionsAtStart: Int32?

    /// - Parameter commits: of all partitions of the topic.
    init(_ commits: some Collection<CommittedOffset>) {
        hasCommitted = !commits.isEmpty
        partitionsAtStart = commits.compactMap { Self.partitions(in: $0.metadata) }.max()
    }

    /// Returns the note of a group that begins on a topic with so many partitions.
    static func note(partitions: Int) -> String { "\(notePrefix)\(partitions)" }

    static func partitions(in metadata: String) -> Int32? {
        let note = metadata.split(separator: ";").first { $0.hasPrefix(notePrefix) }
        // bounded: a text that is no number, or too large, gives nil
        return note.flatMap { Int32($0.dropFirst(notePrefix.count)) }
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
