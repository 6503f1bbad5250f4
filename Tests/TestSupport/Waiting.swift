internal import Basics

/// The error of a condition that did not become true in time.
package struct NotInTime: Error, CustomStringConvertible {
    /// One line that names the condition.
    package let description: String

    package init(description: String) { self.description = description }
}

/// Waits until `condition` is true, and evaluates it every few milliseconds. The bound is generous, because only a failing test
/// reaches it.
/// - Parameter what: describes the condition, for the error.
/// - Throws: `NotInTime` with that description.
package func eventually(
    _ what: String, within bound: Duration = .seconds(20), _ condition: () async throws -> Bool
) async throws {
    let end = Instant.now + bound
    while try await !condition() {
        guard Instant.now < end else { throw NotInTime(description: "not within \(bound): \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
