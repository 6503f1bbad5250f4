/// The switches that a demo offers to visitors of its console: faults, and the demo's own traffic. Its functions are called concurrently.
///
/// Only `locsearch demo` has one. Without it, a console has no routes for it.
package protocol DemoPanel: Sendable {
    /// Returns the controls in the order in which the page shows them.
    func controls() async -> [DemoControl]

    /// Switches a control on or off. Has no effect if it already is in that state.
    /// - Throws: `notFound` for an unknown name; `unavailable` if it cannot be switched.
    func set(_ name: String, isOn: Bool) async throws(ConsoleError)

    /// Switches all faults off.
    /// - Throws: `unavailable` if one of them cannot be ended.
    func clearFaults() async throws(ConsoleError)
}

/// One control of a demo's panel, and its present state.
package struct DemoControl: Sendable, Hashable {
    /// The name in the API, which also identifies its texts on the page: `slow-provider`.
    package let name: String
    package let isOn: Bool
    /// True for a fault.
    package let isFault: Bool

    package init(name: String, isOn: Bool, isFault: Bool) {
        self.name = name
        self.isOn = isOn
        self.isFault = isFault
    }
}
