public import Basics
public import ProviderCalls
internal import Synchronization

extension SearchWorker {
    private final class Number: Sendable {
        let value = Atomic(0)
    }

    /// Searches for a request, and waits for the report. Cancelling the task ends the search.
    public func report(on addressed: AddressedRequest, before deadline: Deadline) async -> SearchReport {
        let number = Number()
        return await withTaskCancellationHandler {
            _ = self  // see docs/internals/concurrency.md, 3
            return await withCheckedContinuation { continuation in
                let begun = begin(addressed, before: deadline) { continuation.resume(returning: $0) }
                number.value.store(begun, ordering: .relaxed)
                if Task.isCancelled { cancel(begun) }
            }
        } onCancel: {
            Task { await self.end(number) }
        }
    }

    private func end(_ number: Number) { cancel(number.value.load(ordering: .relaxed)) }
}

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
