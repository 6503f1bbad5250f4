internal import HTTPServing
internal import Hummingbird
internal import JSON

/// Shows and switches the faults of a demo. A console outside a demo does not have these routes.
struct DemoRoutes {
    let panel: any DemoPanel

    /// The maximum size of a page's choice of a control.
    private static let mostBytes = 1024

    func add(to router: Router<ClientContext>) {
        let panel = panel
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
        do throws(JSONError) {
            var reader = JSONReader(body.span)
            if try reader.enterObject() {
                while let key = try reader.nextKey() {
                    switch key {
                    case "name": name = try reader.string()
                    case "isOn": isOn = try reader.bool()
                    default: try reader.skip()
                    }
                }
            }
            try reader.finish()
        } catch {
            throw ConsoleError(.invalid, "the body is no JSON: \(error)")
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
