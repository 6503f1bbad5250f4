/// The actions of a session so far and the state after each: time travel, for tests and debugging.
///
/// It keeps every action and every state, so it is not suitable as a store.
public struct Timeline: Sendable {
    /// One action and its resulting state.
    public struct Step: Sendable {
        /// The action.
        public let action: Action
        /// The state after it.
        public let state: SessionState
    }

    /// The state before the first action.
    public let start: SessionState
    /// All steps so far.
    public private(set) var steps: [Step] = []

    /// Makes a timeline of these actions.
    public init(_ actions: some Sequence<Action> = [], limits: SessionLimits = SessionLimits()) {
        start = SessionState(limits: limits)
        for action in actions { append(action) }
    }

    /// The state after all actions.
    public var state: SessionState { steps.last?.state ?? start }

    /// Adds an action.
    public mutating func append(_ action: Action) {
        var next = state
        Reducer.reduce(&next, action)
        steps.append(Step(action: action, state: next))
    }

    /// Returns the state after this number of actions.
    /// - Parameter count: 0 returns the start; a number above the number of actions returns the end.
    public func state(after count: Int) -> SessionState {
        if count <= 0 { return start }
        return count < steps.count ? steps[count - 1].state : state
    }
}
