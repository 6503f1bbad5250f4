import SimulatedLoop

/// Searches while a user types: those of a session follow each other faster than they are answered.
extension FleetPlan {
    /// Assigns some of the requests to sessions. Those of a session share a partition, as docs/events.md requires, and come in bursts.
    mutating func makeSessions(_ random: inout SeededGenerator) {
        guard random.chance(0.3) else { return }
        let part = Double.random(in: 0.2...0.8, using: &random)
        let sessions = (0..<Int.random(in: 1...6, using: &random)).map { number in
            (name: "s\(number)", partition: Int32.random(in: 0..<partitions, using: &random))
        }

        var time: [String: Double] = [:]
        for index in requests.indices where random.chance(part) {
            guard let session = sessions.randomElement(using: &random) else { return }
            requests[index].session = session.name
            requests[index].partition = session.partition
            requests[index].key = session.name
            if let before = time[session.name], random.chance(0.6) {
                requests[index].time = before + Double.random(in: 0...0.4, using: &random)
            }
            time[session.name] = requests[index].time
        }
        requests.sort { $0.time < $1.time }
    }
}
