package import EventContract
package import LocationSearch

/// The console's way to Kafka and to pictures. Its functions are called concurrently.
package protocol ConsoleBackend: Sendable {
    /// Sends a request, and returns once the broker has it.
    /// - Parameters:
    ///   - time: the time that the event carries.
    ///   - expiry: until when an outcome is wanted.
    /// - Throws: `unavailable` when no broker takes it within some seconds.
    func send(_ request: SearchRequest, at time: EventTime, expiry: EventTime) async throws(ConsoleError)

    /// Reads what became of the requests that an id means: a request's, a trace's, or a record's position.
    /// - Returns: No life where the topics do not know the id.
    /// - Throws: `unavailable` when no broker answers within some seconds.
    func lives(of id: String) async throws(ConsoleError) -> RequestLives

    /// Reads the dead letters that there are.
    /// - Throws: `unavailable` when the topic cannot be read.
    func deadLetters(_ query: DeadLetterQuery) async throws(ConsoleError) -> DeadLetterList

    /// Returns a whole dead letter as the JSON object that `locsearch dead-letters show --json` prints.
    /// - Throws: `notFound` when the topic has no letter there, or none any more; `unavailable`.
    func deadLetter(at position: DeadLetterList.Position) async throws(ConsoleError) -> [UInt8]

    /// Returns why a dead letter would be put aside again with another value; `nil` where it would be a request.
    /// - Throws: as `deadLetter(at:)`.
    func judge(
        _ value: [UInt8], ofLetterAt position: DeadLetterList.Position
    ) async throws(ConsoleError) -> SearchError?

    /// Begins to send dead letters back to the requests topic, and looks for their outcomes from then on.
    /// - Parameter letters: each with its new value, if somebody has put it right.
    /// - Parameter version: `DeadLetterList.version` of the list that they were chosen from.
    /// - Returns: the number by which `redriveReport` knows it, and what is known so far.
    /// - Throws: `invalid` when one of them must not go back, `changed` when the topic is another one by now; `unavailable`.
    func redrive(
        _ letters: [DeadLetterList.Position: [UInt8]?], ofVersion version: String
    ) async throws(ConsoleError) -> (id: Int, report: RedriveReport)

    /// Returns how far a redrive has come; `nil` when that is not kept any more.
    func redriveReport(_ id: Int) -> RedriveReport?

    /// Reads the orders that are in force in the fleet.
    /// - Throws: `unavailable` when the fleet's topic cannot be read.
    func controls() async throws(ConsoleError) -> ControlList

    /// Pauses or resumes a provider or the intake, for the whole fleet.
    /// - Throws: `invalid` for an unknown provider, and where no worker answers, unless the choice is for those that start;
    ///   `unavailable`.
    func control(_ choice: PauseChoice) async throws(ConsoleError) -> ControlResult

    /// Returns the console's metrics as Prometheus text.
    func metrics() async -> String

    /// Fetches a picture from a URL that `PictureHosts` has let through.
    /// - Returns: `nil` when there is none.
    func picture(at url: String) async -> Picture?
}
