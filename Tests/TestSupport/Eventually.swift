/// A condition did not come true in time.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
}

/// Waits until `condition` holds, looking every few milliseconds. The bound is generous: it only ends a failing test.
/// - Throws: `NotInTime` that names what was waited for.
package func eventually(
    _ what: String, within bound: Duration = .seconds(20), _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + bound
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not within \(bound): \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
