internal import HTTPServing
internal import HummingbirdCore
internal import JSON

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
        (self.name, self.isOn, self.isFault) = (name, isOn, isFault)
    }
}

/// Shows and switches the faults of a demo. A console outside a demo does not have these routes.
struct DemoRoutes {
    let panel: any DemoPanel

    /// The maximum size of a page's choice of a control.
    private static let mostBytes = 1024

    func add(to router: Router) {
        router.get("/api/demo/faults") { _, _ in JSONAnswer.response(Self.json(await panel.controls())) }

        router.post("/api/demo/faults") { request, _ in
            let choice = try Self.choice(try await request.bytes(upTo: Self.mostBytes))
            try await panel.set(choice.name, isOn: choice.isOn)
            return JSONAnswer.response(Self.json(await panel.controls()))
        }

        router.post("/api/demo/faults/clear") { _, _ in
            try await panel.clearFaults()
            return JSONAnswer.response(Self.json(await panel.controls()))
        }
    }

    /// Reads `{"name":"slow-provider","isOn":true}`.
    private static func choice(_ body: [UInt8]) throws(ConsoleError) -> (name: String, isOn: Bool) {
        var (name, isOn) = (nil as String?, nil as Bool?)
        try JSONBody.members(of: body) { member, json throws(JSONError) in
            switch member {
            case "name": name = try json.string()
            case "isOn": isOn = try json.bool()
            default: try json.skip()
            }
        }
        guard let name else { throw ConsoleError(.invalid, "name is missing: GET shows the names", member: "name") }
        guard let isOn else { throw ConsoleError(.invalid, "isOn is missing: true or false", member: "isOn") }
        return (name, isOn)
    }

    private static func json(_ controls: [DemoControl]) -> [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.objects("controls", of: controls) { control, json in
                json.member("name", control.name)
                json.member("isOn", control.isOn)
                json.member("isFault", control.isFault)
            }
        }
    }
}
