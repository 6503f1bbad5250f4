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
