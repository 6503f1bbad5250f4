public import Tracing

/// The span of the call that the current task makes, so that the HTTP transport can add what the domain does not know.
public enum CallSpan {
    /// `nil` outside a traced call.
    @TaskLocal public static var current: (any Span)?
}
