import EventLoop
import SimulatedLoop

/// Brings what happens outside of a loop onto it, as librdkafka does by the pipe that it signals: what is posted runs in the
/// loop's next turn, in the order of the posts, outside any task.
final class LoopInbox: ReadinessHandler, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread, on which posts and turns follow each other.

    private let loop: SimulatedLoop
    /// Stands for the pipe's end. No file: the loop's poller is a simulated one.
    private let descriptor: Int32
    private var posts: [() -> Void] = []
    private var isWatching = false

    /// - Parameter descriptor: differs from that of any other inbox of the loop.
    init(_ loop: SimulatedLoop, descriptor: Int32) {
        self.loop = loop
        self.descriptor = descriptor
    }

    /// Begins to take posts. To be called on the loop.
    func start() {
        guard !isWatching else { return }
        isWatching = true
        loop.eventLoop.watch(descriptor, for: .read, handler: self)
        if !posts.isEmpty { signal() }
    }

    /// Ends it. To be called on the loop.
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
