internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// Serves Hot Pepper's and Google's place APIs, with invented places, on one address. Safe to call from any thread.
///
/// The paths are the real ones, below `baseURL`. What goes wrong on purpose stands in `FaultTable`; `/_sim/stats`,
/// `/_sim/log`, `/_sim/config`, `/_sim/reset` and `/_sim/faults` show and change what it does.
package final class SimulatorServer: Sendable {
    private let configuration: SimulatorConfiguration
    private let traffic: TrafficControl
    private let group: MultiThreadedEventLoopGroup

    private enum Phase {
        case new
        case starting
        case listening(any Channel, port: Int)
        case stopped
    }
    private struct State {
        var phase = Phase.new
        /// Open connections, to be closed at the end.
        var connections: [ObjectIdentifier: any Channel] = [:]
    }
    private let state = Mutex(State())

    /// - Throws: `SimulatorError.invalidConfiguration` that names the member.
    package init(_ configuration: SimulatorConfiguration) throws(SimulatorError) {
        self.configuration = try configuration.validated()
        traffic = TrafficControl(profile: configuration.profile, logCapacity: configuration.logCapacity)
        group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.threads)
    }

    /// Where it listens; `nil` before `start()` and after `shutdown()`.
    package var port: Int? {
        state.withLock { state in
            guard case .listening(_, let port) = state.phase else { return nil }
            return port
        }
    }

    /// `http://host:port`, without a slash at the end; `nil` before `start()` and after `shutdown()`.
    package var baseURL: String? { port.map { "http://\(configuration.host):\($0)" } }

    /// Begins to listen.
    /// - Returns: `baseURL`.
    /// - Throws: `SimulatorError.startedTwice`, or why the address cannot be had.
    @discardableResult
    package func start() async throws -> String {
        try state.withLock { state throws(SimulatorError) in
            guard case .new = state.phase else { throw .startedTwice }
            state.phase = .starting
        }
        let channel = try await bind()
        let port = channel.localAddress?.port ?? configuration.port
        let isStopped = state.withLock { state in
            if case .stopped = state.phase { return true }
            state.phase = .listening(channel, port: port)
            return false
        }
        if isStopped {
            try? await channel.close()
            throw SimulatorError.startedTwice
        }
        return "http://\(configuration.host):\(port)"
    }

    /// Serves until the task is cancelled or `shutdown()` is called; starts first where `start()` was not called.
    package func run() async throws {
        if port == nil { try await start() }
        guard case .listening(let channel, _) = state.withLock({ $0.phase }) else { return }
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        await shutdown()
    }

    /// Closes everything at once. Any number of calls.
    package func shutdown() async {
        let (open, isFirst) = state.withLock { state -> ([any Channel], Bool) in
            var open = Array(state.connections.values)
            if case .listening(let channel, _) = state.phase { open.append(channel) }
            let isFirst = if case .stopped = state.phase { false } else { true }
            state.phase = .stopped
            return (open, isFirst)
        }
        for channel in open { try? await channel.close() }
        if isFirst { try? await group.shutdownGracefully() }
    }

    private func bind() async throws -> any Channel {
        var workshops: [ObjectIdentifier: NIOLoopBound<Workshop>] = [:]
        for (number, loop) in group.makeIterator().enumerated() {
            let workshop = loop.submit { [configuration] in
                NIOLoopBound(Workshop(configuration, number: number, loop: loop), eventLoop: loop)
            }
            workshops[ObjectIdentifier(loop)] = try await workshop.get()
        }
        let (traffic, control) = (traffic, ControlPlane(traffic: traffic))
        let bound = workshops
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let workshop = bound[ObjectIdentifier(channel.eventLoop)]?.value else { return }
                    keep(channel)
                    let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
                    let handler = ConnectionHandler(workshop: workshop, traffic: traffic, control: control)
                    try channel.pipeline.syncOperations.addHandlers(decoder, handler)
                }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            // Room for a whole answer: one system call sends it.
            .childChannelOption(.socketOption(.so_sndbuf), value: 400_000)
            // One read per request: a second one would only find nothing.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .bind(host: configuration.host, port: configuration.port).get()
    }

    private func keep(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isStopped = state.withLock { state in
            state.connections[id] = channel
            if case .stopped = state.phase { return true }
            return false
        }
        if isStopped { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.connections[id] = nil } }
    }
}
