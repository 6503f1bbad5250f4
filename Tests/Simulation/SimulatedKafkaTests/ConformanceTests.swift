import SimulatedKafka
import Testing

/// Plays the same steps to the model as `ops/experiments/run conformance` plays to real clusters. If the two differ, the model is wrong.
struct ConformanceTests {
    @Test(arguments: [ClusterRules.MemberEpochCheck.equal, .sinceAssignment])
    func `The model answers as Kafka does`(check: ClusterRules.MemberEpochCheck) throws {
        let scenarios = try ConformancePlayer.scenarios()
        #expect(scenarios.count >= 10)
        for scenario in scenarios {
            let player = ConformancePlayer(check)
            for (index, step) in scenario.steps.enumerated() {
                guard let problem = player.play(step) else { continue }
                Issue.record("\(scenario.name), step \(index + 1), \(step["do"] ?? ""): \(problem)")
                break
            }
        }
    }
}
