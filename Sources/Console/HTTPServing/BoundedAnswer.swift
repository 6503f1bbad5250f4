/// Asks a question, such as one that an event loop must answer, and waits for no longer than `bound`.
///
/// A loop that is stuck, or has stopped, never answers a caller of its actors. The question then stays behind,
/// suspended, and the caller goes on without an answer.
/// - Returns: `nil` when the answer did not come in time.
package func answer<Value: Sendable>(
    within bound: Duration, to question: @escaping @Sendable () async -> Value
) async -> Value? {
    let (answers, answering) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
    Task {
        answering.yield(await question())
        answering.finish()
    }
    let timer = Task {
        try? await Task.sleep(for: bound)
        answering.finish()
    }
    defer { timer.cancel() }

    return await answers.first { _ in true }
}
