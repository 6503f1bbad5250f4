internal import CMimalloc
import EventLoop
import Foundation
import Synchronization

/// Runs one of the benchmark's jobs a given number of times: `Benchmarks decode 2000`.
///
/// `tools/bench` runs it under valgrind with two counts; the difference between the two runs is the cost of the job.
@main
struct Benchmarks {
    private enum Job: String, CaseIterable {
        case decode, encode, request, lane, call
        case queueServe = "queue-serve"
        case queueSupersede = "queue-supersede"
        case queueRevoke = "queue-revoke"

        func run(_ count: Int, on loop: EventLoop) async throws {
            switch self {
            case .decode: try await ProviderBenchmark.decode(count)
            case .encode: try await EventBenchmark.encode(count)
            case .request: try EventBenchmark.readRequest(count)
            case .lane: try await LaneBenchmark.run(count, on: loop)
            case .call: try await LaneBenchmark.run(count, as: .beginAndDiffer, on: loop)
            case .queueServe: try await LaneBenchmark.run(count, as: .waitAndAreServed, on: loop)
            case .queueSupersede: try await LaneBenchmark.run(count, as: .waitAndAreSuperseded, on: loop)
            case .queueRevoke: try await LaneBenchmark.run(count, as: .waitAndAreRevoked, on: loop)
            }
        }
    }

    /// The main thread waits without Swift's main loop, which ends that thread in a way that valgrind cannot follow.
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let job = arguments.first.flatMap(Job.init), let count = arguments.last.flatMap({ Int($0) }) else {
            let names = Job.allCases.map(\.rawValue).joined(separator: "|")
            FileHandle.standardError.write(Data("usage: Benchmarks \(names) COUNT\n".utf8))
            exit(64)
        }

        // With an allocator other than the program's, the figures would not be comparable.
        guard locsearch_malloc_is_mimalloc() else { throw BenchmarkError(message: "malloc is not mimalloc's") }
        let loop = try EventLoop()
        let hasEnded = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task(executorPreference: loop) {
            do {
                try await job.run(count, on: loop)
            } catch {
                failure.withLock { $0 = error }
            }
            hasEnded.signal()
        }
        hasEnded.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// A job that did not do what it should, so that its figure would be meaningless.
struct BenchmarkError: Error {
    let message: String
}
