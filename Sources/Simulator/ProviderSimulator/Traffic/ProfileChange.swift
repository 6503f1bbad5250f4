internal import JSON

/// The body of `POST /_sim/config`. Its members change the profiles; a `capacity` of `null` removes the limit.
///
///     {"apis": ["hotpepper"], "latency": "p50:80ms,p99:900ms", "faults": {"503": 0.05}, "capacity": 8}
///
/// Without `apis`, all APIs change.
struct ProfileChange {
    /// The APIs whose profiles are changed.
    private(set) var apis = ProviderAPI.allCases
    private var latency: LatencyDistribution?
    private var faults: [String: Double]?
    private var capacity: Int??

    init(_ body: [UInt8]) throws(SimulatorError) {
        do {
            var reader = JSONReader(body.span)
            guard try reader.enterObject() else { throw Self.wrong("body", expected: "a JSON object") }

            while let key = try reader.nextKey() {
                let name = try key.string()
                switch name {
                case "apis": apis = try Self.apis(&reader)
                case "latency": latency = try Self.latency(&reader)
                case "faults": faults = try Self.faults(&reader)
                // The validation of the profile rejects a negative number.
                case "capacity": capacity = .some(try reader.skipNull() ? nil : try reader.int() ?? -1)
                default:
                    throw Self.wrong(String(name.prefix(100)), expected: "one of apis, latency, faults, capacity")
                }
            }
            try reader.finish()
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw Self.wrong("body", expected: "JSON")
        }
    }

    func apply(to profile: inout TrafficProfile) {
        if let latency { profile.latency = latency }
        if let faults { profile.faults = faults }
        if let capacity { profile.capacity = capacity }
    }

    private static func wrong(_ member: String, expected: String) -> SimulatorError {
        .invalidConfiguration(member: member, expected: expected)
    }

    private static func apis(_ reader: inout JSONReader) throws -> [ProviderAPI] {
        let names = ProviderAPI.allCases.map(\.name)
        let expected = "a list of \(names.joined(separator: ", "))"
        guard try reader.enterArray() else { throw wrong("apis", expected: expected) }
        var apis: [ProviderAPI] = []
        while try reader.nextElement() {
            let name = try reader.string()
            guard let api = ProviderAPI.allCases.first(where: { $0.name == name }) else {
                throw wrong("apis", expected: expected)
            }
            if !apis.contains(api) { apis.append(api) }
        }
        return apis
    }

    private static func latency(_ reader: inout JSONReader) throws -> LatencyDistribution {
        guard let text = try reader.string(), let latency = LatencyDistribution(text) else {
            throw wrong("latency", expected: LatencyDistribution.expectation)
        }
        return latency
    }

    private static func faults(_ reader: inout JSONReader) throws -> [String: Double] {
        guard try reader.enterObject() else { throw wrong("faults", expected: "an object of fractions by fault name") }
        var faults: [String: Double] = [:]
        while let key = try reader.nextKey() {
            let name = try key.string()
            guard let share = try reader.double() else {
                throw wrong("faults.\(name.prefix(40))", expected: "a fraction of 0...1")
            }
            faults[name] = share
        }
        return faults
    }
}
