import Dispatch
import Foundation
import Testing

@testable import Kafka

struct DisposalTests {
    /// Freeing a client may take seconds, and several are freed at once by a test, or by a console that reopens its topics.
    @Test(.timeLimit(.minutes(1))) func `Tasks go on while clients are freed`() async {
        let freed = DispatchSemaphore(value: 0)
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<count {
            Disposal.run {
                continuation.yield()
                freed.wait()
            }
        }

        var left = count
        for await _ in begun {
            left -= 1
            if left == 0 { break }
        }
        let answer = await Task.detached { 42 }.value
        #expect(answer == 42)
        for _ in 0..<count { freed.signal() }
    }
}
