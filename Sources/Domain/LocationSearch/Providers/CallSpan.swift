public import Tracing

/// The span of the current task's call, to which the HTTP transport adds what the domain does not know.
public enum CallSpan {
    /// `nil` outside a traced call.
    @TaskLocal public static var current: (any Span)?
}
