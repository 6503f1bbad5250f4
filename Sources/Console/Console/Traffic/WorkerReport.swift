/// The answer of a worker's admin endpoint to `/status`.
package struct WorkerReport: Sendable, Hashable {
    /// The address of the worker's admin endpoints, from the setting.
    package let url: String
    /// The JSON of the answer; `nil` without an answer.
    package let status: [UInt8]?
    /// The reason if there is no answer, in one line.
    package let problem: String?

    package init(url: String, status: [UInt8]) {
        self.url = url
        self.status = status
        problem = nil
    }

    package init(url: String, problem: String) {
        self.url = url
        status = nil
        self.problem = problem
    }
}
