/// What a demo lets visitors of its console switch: faults, and the traffic that it makes itself. Its functions are called
/// concurrently.
///
/// Only `locsearch demo` has one. A console without it has no route to it either.
package protocol DemoPanel: Sendable {
    /// Returns the controls in the order in which the page shows them.
    func controls() async -> [DemoControl]

    /// Switches a control on or off; one that is so already stays so.
    /// - Throws: `notFound` for a name that is no control's; `unavailable` when it cannot be done.
    func set(_ name: String, isOn: Bool) async throws(ConsoleError)

    /// Switches all faults off.
    /// - Throws: `unavailable` when one of them cannot be ended.
    func clearFaults() async throws(ConsoleError)
}

/// One control of a demo's panel, and its present state.
package struct DemoControl: Sendable, Hashable {
    /// The name in the API, by which the page also finds its words: `slow-provider`.
    package let name: String
    package let isOn: Bool
    /// True for what goes wrong while it is on.
    package let isFault: Bool

    package init(name: String, isOn: Bool, isFault: Bool) {
        self.name = name
        self.isOn = isOn
        self.isFault = isFault
    }
}
