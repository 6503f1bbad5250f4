/// Waits for an answer that arrives outside of a task.
/// - Parameter ask: receives the callback for the answer, and calls it at most once.
func answer<Value>(_ ask: (@escaping (Value) -> Void) -> Void) async -> Value {
    var answer: Value?
    // An unchecked continuation. If the process is killed before the answer arrives, nothing may resume it, because tasks of a killed
    // process never run again. A checked continuation would report that as a leak.
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        ask { value in
            answer = value
            unsafe continuation.resume()
        }
    }
    guard let answer else { preconditionFailure("resumed without an answer") }
    return answer
}
