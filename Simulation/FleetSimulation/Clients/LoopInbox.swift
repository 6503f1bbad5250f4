import EventLoop
import SimulatedLoop

/// Brings events from outside onto a loop, as librdkafka does with the pipe that it signals.
///
/// Posted actions run in the loop's next iteration, in the order of the posts, outside any task.
final class LoopInbox: ReadinessHandler, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread, which runs posts and loop iterations one after another.

    private let loop: SimulatedLoop
    /// Stands for the pipe's end. It is no real file: the loop's poller is simulated too.
    private let descriptor: Int32
    private var posts: [() -> Void] = []
    private var isWatching = false

    /// - Parameter descriptor: must be unique among the inboxes of the loop.
    init(_ loop: SimulatedLoop, descriptor: Int32) {
        self.loop = loop
        self.descriptor = descriptor
    }

    /// Starts accepting posts. Must be called on the loop.
    func start() {
        guard !isWatching else { return }
        isWatching = true
        loop.eventLoop.watch(descriptor, for: .read, handler: self)
        if !posts.isEmpty { signal() }
    }

    /// Stops accepting posts and drops those that have not run. Must be called on the loop.
    func stop() {
        isWatching = false
        posts = []
        loop.eventLoop.unwatch(descriptor)
    }

    func post(_ action: @escaping () -> Void) {
        posts.append(action)
        if posts.count == 1, isWatching { signal() }
    }

    private func signal() { loop.report(descriptor, readiness: .read) }

    func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        let due = posts
        posts = []
        for action in due { action() }
    }
}
