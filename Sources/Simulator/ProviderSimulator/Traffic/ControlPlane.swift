internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Answers requests below `/_sim/`: statistics, and changes of the profiles. These requests are not counted.
struct ControlPlane: Sendable {
    let traffic: TrafficControl

    func reply(to request: IncomingRequest) -> Reply {
        switch (request.path, request.method) {
        case ("/_sim/stats", .GET): return json(statistics(), outcome: "stats")
        case ("/_sim/reset", .POST):
            traffic.reset()
            return Reply(Reply.json, body: "{}\n", outcome: "reset")
        case ("/_sim/config", .POST): return configure(with: request.body)
        default:
            return Reply(
                Reply.plain, body: "GET /_sim/stats, POST /_sim/config, POST /_sim/reset\n", status: 404,
                outcome: "unknown")
        }
    }

    private func configure(with body: [UInt8]) -> Reply {
        do throws(SimulatorError) {
            let change = try ProfileChange(body)
            try traffic.configure(change.apis) { change.apply(to: &$0) }
            return Reply(Reply.json, body: "{}\n", outcome: "config")
        } catch {
            let text = JSONWriter.object(capacity: 256) { json in json.member("error", error.description) }
            var reply = json(text, outcome: "config")
            reply.status = 400
            return reply
        }
    }

    private func json(_ bytes: [UInt8], outcome: String) -> Reply {
        var body = JSONLayout.lay(bytes)
        body.writeStaticString("\n")
        return Reply(Reply.json, body: body, outcome: outcome)
    }

    // MARK: Statistics

    private func statistics() -> [UInt8] {
        let snapshot = traffic.snapshot()
        return JSONWriter.object(capacity: 16_384) { json in
            json.member("elapsedMs", snapshot.elapsedMilliseconds)
            write(snapshot.total, to: &json)
            json.object("apis") { json in
                for service in snapshot.services {
                    json.key(service.api.name)
                    json.object { json in
                        write(service.meter, to: &json)
                        json.member("beingServed", service.gate.active)
                        json.member("waitingForTurn", service.gate.waiting)
                    }
                }
            }
        }
    }

    /// Writes the members of a meter into an open object.
    private func write(_ meter: Meter, to json: inout JSONWriter) {
        json.member("requests", meter.requests)
        json.member("inFlight", meter.inFlight)
        json.member("maxInFlight", meter.maxInFlight)
        json.member("aborted", meter.aborted)
        json.member("maxInAnySecond", meter.window.maximum)

        let counts: [(StaticString, [String: Int])] = [("outcomes", meter.outcomes), ("skus", meter.skus)]
        for (name, numbers) in counts {
            json.object(name) { json in
                for (key, number) in numbers.sorted(by: { $0.key < $1.key }) {
                    json.key(key)
                    json.value(number)
                }
            }
        }

        json.object("methods") { json in
            for (method, window) in meter.methods.sorted(by: { $0.key < $1.key }) {
                json.key(method)
                json.object { json in
                    json.member("requests", window.total)
                    json.member("maxInAnySecond", window.maximum)
                }
            }
        }

        json.object("perSecond") { json in
            json.member("first", meter.seconds.first)
            json.array("counts", of: meter.seconds.counts) { count, json in json.value(count) }
        }
    }
}
