import TestSupport
import Testing

@testable import WorkerRuntime

/// Stands for the worker's actor, to which the sequencer belongs.
private actor Desk {
    private let sequencer = OutcomeSequencer<String>()
    private(set) var left: [String: [Int]] = [:]
    private var turns: [OutcomeSequencer<String>.Position] = []

    func takeTurns(in lanes: [String]) { turns = lanes.map { sequencer.append(to: $0) } }

    func finish(_ index: Int, lane: String, drop: Bool = false) async {
        let turn = turns[index]
        if !drop {
            await turn.wait()
            left[lane, default: []].append(index)
        }
        turn.leave()
    }

    var groupCount: Int { sequencer.groupCount }
}

struct OutcomeSequencerTests {
    /// In whatever order requests finish, the outcomes of each key leave in the order of its requests.
    @Test(arguments: 0..<40)
    func `Outcomes of each group leave in order`(seed: UInt64) async {
        var random = SplitMix64(state: seed)
        let lanes = (0..<60).map { _ in ["a", "b", "c", "d"].randomElement(using: &random) ?? "a" }
        let dropped = Set((0..<60).filter { _ in Int.random(in: 0..<6, using: &random) == 0 })
        let desk = Desk()
        await desk.takeTurns(in: lanes)
        await withTaskGroup(of: Void.self) { group in
            for index in lanes.indices.shuffled(using: &random) {
                group.addTask { await desk.finish(index, lane: lanes[index], drop: dropped.contains(index)) }
            }
        }
        let left = await desk.left
        for lane in Set(lanes) {
            let expected = lanes.indices.filter { lanes[$0] == lane && !dropped.contains($0) }
            #expect(left[lane, default: []] == expected)
        }
        #expect(await desk.groupCount == 0)
    }
}
