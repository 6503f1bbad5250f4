/// The answer of a worker's admin endpoint to `/status`.
package struct WorkerReport: Sendable, Hashable {
    /// The address of the worker's admin endpoints, as the setting has it.
    package let url: String
    /// The JSON that it answered; `nil` when there was no answer.
    package let status: [UInt8]?
    /// Why there is none, in one line.
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
