/// The progress of the reading of a topic whose newest snapshot holds the state.
enum HistoryReading {
    case notBegun
    /// Reads the records that were there at the beginning; nothing is known before their end.
    case history
    /// The history that was read holds no snapshot, and there are older records.
    case tooShort
    case live
}
