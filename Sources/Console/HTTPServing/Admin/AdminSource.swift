/// The state of a process for the admin endpoints. Its functions are called concurrently, and each must return within a few
/// seconds: a probe without an answer counts as failed.
package protocol AdminSource: Sendable {
    /// Returns why the process cannot recover and should be restarted; `nil` while it is alive.
    func livenessProblem() async -> String?

    /// Returns why no requests are taken; `nil` while the worker is ready.
    func readinessProblem() async -> String?

    /// Returns all metrics as Prometheus text.
    func metrics() async -> String

    /// Returns the whole state as one JSON object.
    func status() async -> String
}
