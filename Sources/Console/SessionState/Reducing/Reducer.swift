/// Adds actions to states. Pure: it does not wait, reads no clock, and uses only its arguments.
public enum Reducer {
    /// Adds an action to a session's state.
    /// - Parameters:
    ///   - state: the state to change. Its revision increases if the visible state changes.
    ///   - action: any action of that session, in any order and any number of times. Its session id is not checked.
    public static func reduce(_ state: inout SessionState, _ action: Action) {
        guard state.exchanges.add(action, limits: state.limits) else { return }

        let parts = Derivation(of: state.exchanges).parts
        guard parts != state.parts else { return }
        state.parts = parts
        state.revision += 1
    }
}
