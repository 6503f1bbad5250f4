/// The progress of reading a topic whose newest snapshot contains the state.
enum HistoryReading {
    case notBegun
    /// Reads the records that existed when reading began; the state is unknown until their end.
    case history
    /// The history contains no snapshot, and there are older records.
    case tooShort
    case live
}
