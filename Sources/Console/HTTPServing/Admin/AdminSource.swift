/// The state of a process that the admin endpoints show. Its functions are called concurrently, and each must return
/// within a few seconds: a probe that gets no answer counts as failed.
package protocol AdminSource: Sendable {
    /// Returns why the process is of no use any more and should be started anew, `nil` while it lives.
    func livenessProblem() async -> String?

    /// Returns why no requests are being taken, `nil` while the worker is ready.
    func readinessProblem() async -> String?

    /// Returns all metrics as Prometheus text.
    func metrics() async -> String

    /// Returns the whole state as one JSON object.
    func status() async -> String
}
