/// Adds actions to states. Pure: it waits for nothing, asks no clock, and knows nothing but its arguments.
public enum Reducer {
    /// Adds an action to a session's state.
    /// - Parameters:
    ///   - state: the state to change. Its revision rises when it shows something else then.
    ///   - action: any action of that session, in any order and any number of times. Which session it names is not looked at.
    public static func reduce(_ state: inout SessionState, _ action: Action) {
        guard state.exchanges.add(action, limits: state.limits) else { return }

        let parts = Derivation(of: state.exchanges).parts
        guard parts != state.parts else { return }
        state.parts = parts
        state.revision += 1
    }
}
