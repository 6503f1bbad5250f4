internal import CTaskHooks

/// A job that the Swift runtime would have handed to one of its own executors.
struct Escape {
    let executor: String
    let job: String
    let callers: String
}

/// Watches the calling thread for jobs that are handed to the Swift runtime's own executors.
enum EscapeWatch {
    /// Keeps the first escape of a watch.
    private final class Catch {
        var first: Escape?
    }

    /// Calls `body`. Meanwhile no job of this thread reaches the global executor or the main one: it is
    /// dropped, and its task never resumes.
    /// - Parameter body: calls its argument to get the first escape so far.
    static func during<Value, Failure: Error>(
        _ body: (() -> Escape?) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let caught = Catch()
        // Unretained is safe: `caught` lives until the watch has ended.
        let context = unsafe Unmanaged.passUnretained(caught).toOpaque()
        unsafe locsearch_watch_escapes(
            { context, executor, job in
                guard let context = unsafe context, let executor = unsafe executor else { return }
                let caught = unsafe Unmanaged<Catch>.fromOpaque(context).takeUnretainedValue()
                guard caught.first == nil else { return }
                unsafe caught.first = Escape(
                    executor: String(cString: executor),
                    job: EscapeWatch.text(bytes: 1024) { unsafe locsearch_describe_job(job, $0, $1) },
                    callers: EscapeWatch.text(bytes: 8192) { unsafe locsearch_describe_callers($0, $1) })
            }, context)
        defer {
            locsearch_watch_escapes(nil, nil)
            withExtendedLifetime(caught) {}
        }
        return try body { caught.first }
    }

    /// Returns the text that a C function writes.
    private static func text(bytes: Int, _ write: (UnsafeMutablePointer<CChar>?, Int) -> Void) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            unsafe start.initialize(repeating: 0, count: bytes)
            unsafe write(start, bytes)
            return unsafe String(cString: start)
        }
    }
}
