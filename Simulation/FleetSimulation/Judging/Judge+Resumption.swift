import Basics
import WorkerRuntime

/// Rules about producers that are blocked by a call.
extension Judge {
    /// The seconds within which another producer replaces one with a call that does not return, while the brokers have no faults.
    private static let timeToResume = 45.0

    mutating func judgeResumption() {
        guard plan.areBrokersWell else { return }
        for worker in world.everyWorker {
            for sinks in worker.lanes.map(\.sinks.made) {
                for (sink, next) in zip(sinks, sinks.dropFirst().map(Optional.some) + [nil]) {
                    guard let begin = sink.hungSince else { continue }
                    let isOver = worker.drainedAt.map { $0 < begin + .seconds(Self.timeToResume) } ?? false
                    let isReady = next?.readySince.map { $0 < begin + .seconds(Self.timeToResume) } ?? false
                    if isOver || isReady { continue }
                    find(
                        .resumedLate,
                        "\(worker.name) has no other producer \(Self.timeToResume) s after a call that never returned")
                }
            }
        }
    }
}
