/// Waits for an answer that comes outside of the loop's turns.
/// - Parameter ask: is given what takes the answer, and calls it once at the most.
func answer<Value>(_ ask: (@escaping (Value) -> Void) -> Void) async -> Value {
    var answer: Value?
    // Not a checked one. Where the process was killed before the answer came, nothing resumes it, and nothing should: tasks of a
    // killed process never run again. A checked one would call that a mistake when it is freed.
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        ask { value in
            answer = value
            unsafe continuation.resume()
        }
    }
    guard let answer else { preconditionFailure("resumed without an answer") }
    return answer
}
