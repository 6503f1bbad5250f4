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

    /// Reads the dead letters that there are.
    /// - Parameter limit: the number of letters that are wanted, the newest.
    /// - Throws: `unavailable` when the topic cannot be read.
    func deadLetters(limit: Int) async throws(ConsoleError) -> DeadLetterList

    /// Sends dead letters back to the requests topic.
    /// - Parameter version: `DeadLetterList.version` of the list that they were chosen from.
    /// - Throws: `changed` when the topic has changed since; `unavailable`.
    func redrive(
        _ letters: Set<DeadLetterList.Position>, ofVersion version: String
    ) async throws(ConsoleError) -> DeadLetterList.Redriven

    /// Reads the orders that are in force in the fleet.
    /// - Throws: `unavailable` when the fleet's topic cannot be read.
    func controls() async throws(ConsoleError) -> ControlList

    /// Pauses or resumes a provider or the intake, for the whole fleet.
    /// - Throws: `invalid` for an unknown provider; `unavailable`.
    func control(_ choice: PauseChoice) async throws(ConsoleError) -> ControlResult

    /// Returns the console's metrics as Prometheus text.
    func metrics() async -> String

    /// Fetches a picture from a URL that `PictureHosts` has let through.
    /// - Returns: `nil` when there is none.
    func picture(at url: String) async -> Picture?
}
