internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Answers requests below `/_sim/`: statistics, the log, and changes of the profiles. These requests are not counted.
struct ControlPlane: Sendable {
    let traffic: TrafficControl

    func reply(to request: IncomingRequest) -> Reply {
        switch (request.path, request.method) {
        case ("/_sim/stats", .GET): return json(statistics(), outcome: "stats")
        case ("/_sim/log", .GET): return json(log(request.query), outcome: "log")
        case ("/_sim/config", .GET): return json(configuration(), outcome: "config")
        case ("/_sim/faults", .GET): return Reply(Reply.plain, body: FaultTable.text, outcome: "faults")
        case ("/_sim/reset", .POST):
            traffic.reset()
            return json(Array("{}".utf8), outcome: "reset")
        case ("/_sim/config", .POST): return configure(with: request.body)
        default:
            return Reply(
                Reply.plain,
                body: "GET /_sim/stats, GET /_sim/log?last=N, GET /_sim/config, POST /_sim/config, POST /_sim/reset, "
                    + "GET /_sim/faults\n", status: 404, outcome: "unknown")
        }
    }

    private func configure(with body: [UInt8]) -> Reply {
        do throws(SimulatorError) {
            let change = try ProfileChange(body)
            try traffic.configure(change.apis) { change.apply(to: &$0) }
            return json(configuration(), outcome: "config")
        } catch {
            let text = JSONWriter.object(capacity: 256) { json in json.member("error", error.description) }
            var reply = json(text, outcome: "config")
            reply.status = 400
            return reply
        }
    }

    private func json(_ bytes: [UInt8], outcome: String) -> Reply {
        var body = JSONLayout.googlePlaces.lay(bytes)
        body.writeStaticString("\n")
        return Reply(Reply.json, body: body, outcome: outcome)
    }

    // MARK: Statistics

    private func statistics() -> [UInt8] {
        let snapshot = traffic.snapshot()
        return JSONWriter.object(capacity: 16_384) { json in
            json.member("elapsedMs", snapshot.elapsedMilliseconds)
            write(snapshot.total, to: &json)
            // bounded: counts of this process
            json.member("distinctRequests", snapshot.services.reduce(0) { $0 + $1.distinct })
            // bounded: as above
            json.member("repeatedRequests", snapshot.services.reduce(0) { $0 + $1.repeated })
            json.object("apis") { json in
                for service in snapshot.services {
                    json.key(service.api.name)
                    write(service, to: &json)
                }
            }
        }
    }

    private func write(_ service: TrafficSnapshot.Service, to json: inout JSONWriter) {
        json.beginObject()
        write(service.count, to: &json)
        json.member("distinctRequests", service.distinct)
        json.member("repeatedRequests", service.repeated)
        json.member("beingServed", service.beingServed)
        json.member("waitingForTurn", service.waitingForTurn)

        json.object("methods") { json in
            for (name, count) in service.methods where count.meter.requests > 0 || count.meter.inFlight > 0 {
                json.key(name)
                json.object { json in write(count, to: &json) }
            }
        }
        json.endObject()
    }

    /// Writes the members of a count into an open object.
    private func write(_ count: TrafficSnapshot.Count, to json: inout JSONWriter) {
        let meter = count.meter
        json.member("requests", meter.requests)
        json.member("inFlight", meter.inFlight)
        json.member("maxInFlight", meter.maxInFlight)
        json.member("aborted", meter.aborted)
        json.member("maxInAnySecond", meter.window.maximum)

        json.object("outcomes") { json in
            for (outcome, number) in count.outcomes.sorted(by: { $0.key < $1.key }) {
                json.key(outcome)
                json.value(number)
            }
        }

        json.object("perSecond") { json in
            json.member("first", meter.seconds.first)
            json.array("counts", of: meter.seconds.counts) { count, json in json.value(count) }
        }
    }

    // MARK: Log

    private func log(_ query: QueryParameters) -> [UInt8] {
        let (entries, since) = traffic.log(last: Int(query["last"] ?? "") ?? 100)
        return JSONWriter.object(capacity: 16_384) { json in
            json.objects("requests", of: entries) { entry, json in
                json.member("number", entry.number)
                json.member("unixSecond", entry.second)
                json.member("elapsedMs", Int(entry.nanoseconds &- min(since, entry.nanoseconds)) / 1_000_000)
                json.member("api", entry.endpoint.api?.name)
                json.member("method", entry.endpoint.name)
                writeParts(ofURI: entry.uri, to: &json)
                if !entry.body.isEmpty { json.member("body", entry.body) }
                json.member("outcome", entry.outcome)
            }
        }
    }

    /// Writes the path and the parameters, without the key. The values of a repeated parameter are joined with commas.
    private func writeParts(ofURI uri: String, to json: inout JSONWriter) {
        let bytes = Array(uri.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        json.member("path", String(decoding: bytes[..<mark], as: UTF8.self))

        var unused = Fingerprint()
        let query = QueryParameters(bytes, from: mark + 1, fingerprint: &unused)  // bounded: an index of `bytes`
        let keys = query.pairs.filter { $0.name == "key" || $0.name == "$key" }.map(\.value)

        json.object("parameters") { json in
            var seen: Set<String> = ["key", "$key"]
            for pair in query.pairs where seen.insert(pair.name).inserted && !keys.contains(pair.name) {
                let values = query.pairs.filter { $0.name == pair.name }.map {
                    keys.contains($0.value) ? "(key)" : $0.value
                }
                json.key(pair.name)
                json.value(values.joined(separator: ","))
            }
        }
    }

    // MARK: Profiles

    private func configuration() -> [UInt8] {
        JSONWriter.object(capacity: 1024) { json in
            for api in ProviderAPI.allCases {
                json.key(api.name)
                write(traffic.profile(of: api), to: &json)
            }
        }
    }

    private func write(_ profile: TrafficProfile, to json: inout JSONWriter) {
        json.beginObject()
        json.member("latency", profile.latency.text)

        json.object("faults") { json in
            for (spelling, share) in profile.faults.sorted(by: { $0.key < $1.key }) {
                json.key(spelling)
                json.value(share)
            }
        }

        json.key("capacity")
        write(profile.capacity, to: &json)
        json.key("quota")
        write(profile.quota, to: &json)
        json.endObject()
    }

    private func write(_ capacity: TrafficProfile.Capacity?, to json: inout JSONWriter) {
        guard let capacity else { return json.null() }
        json.beginObject()
        json.member("concurrent", capacity.concurrent)
        json.member("queue", capacity.queue)
        json.member("servesAbandoned", capacity.servesAbandoned)
        json.endObject()
    }

    private func write(_ quota: TrafficProfile.Quota?, to json: inout JSONWriter) {
        guard let quota else { return json.null() }
        json.beginObject()
        json.member("requestsPerSecond", quota.requestsPerSecond)
        json.member("burst", quota.burst)
        json.member("retryAfter", quota.retryAfter)
        json.endObject()
    }
}
