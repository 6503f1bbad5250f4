/// An outcome of the log, and its id.
struct LoggedOutcome {
    let id: Int
    let record: OutcomeRecord
    /// The row of the page's table as JSON, which is made once for all pages.
    let row: [UInt8]
}

/// The outcomes behind a reader's place, and the number of those that were forgotten before it came.
struct OutcomeBatch {
    let entries: [LoggedOutcome]
    let missed: Int
}
