/// Waits for the result of a question, for example to an event loop, but no longer than `bound`.
///
/// A loop that is stuck or has stopped never answers. The question then stays suspended, and the caller continues without an answer.
/// - Returns: `nil` if the answer did not arrive in time.
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
