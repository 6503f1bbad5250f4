internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization
internal import LibC

/// Serves the place APIs of Hot Pepper and Google on one address, with invented places. Safe to call from any thread.
///
/// The paths are those of the real APIs, below `baseURL`. `FaultTable` lists the faults that a request can ask for.
/// `/_sim/stats`, `/_sim/config`, `/_sim/reset` and `/_sim/faults` show and change the state of the simulator.
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
        /// The open connections, which `shutdown` closes.
        var connections: [ObjectIdentifier: any Channel] = [:]
    }
    private let state = Mutex(State())

    /// Creates a simulator that does not listen yet.
    /// - Throws: `SimulatorError.invalidConfiguration`, which names the member.
    package init(_ configuration: SimulatorConfiguration) throws(SimulatorError) {
        self.configuration = try configuration.validated()
        traffic = TrafficControl(profile: configuration.profile)
        // One event loop serves more than 10,000 requests a second.
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// The port on which the simulator listens; `nil` before `start()` and after `shutdown()`.
    package var port: Int? {
        state.withLock { state in
            guard case .listening(_, let port) = state.phase else { return nil }
            return port
        }
    }

    /// The address as `http://host:port`, without a final slash; `nil` before `start()` and after `shutdown()`.
    package var baseURL: String? { port.map { "http://\(configuration.host):\($0)" } }

    /// Begins to listen.
    /// - Returns: `baseURL`.
    /// - Throws: `SimulatorError.startedTwice`, `SimulatorError.cannotListen`.
    @discardableResult
    package func start() async throws -> String {
        try state.withLock { state throws(SimulatorError) in
            guard case .new = state.phase else { throw .startedTwice }
            state.phase = .starting
        }

        let channel: any Channel
        do {
            channel = try await bind()
        } catch {
            throw SimulatorError.cannotListen(
                host: configuration.host, port: configuration.port, reason: Self.reason(of: error))
        }
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

    /// Changes how future requests to these APIs are treated.
    /// - Throws: `SimulatorError.invalidConfiguration` if the profile is not valid. No profile is changed then.
    package func setProfile(_ profile: TrafficProfile, of apis: [ProviderAPI]) throws(SimulatorError) {
        try traffic.configure(apis) { $0 = profile }
    }

    /// Closes all connections immediately and stops listening. May be called more than once.
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

    /// Describes in a few words why the server cannot listen. The descriptions of NIO's errors do not help users.
    private static func reason(of error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE?: "another program already listens there"
        case EADDRNOTAVAIL?: "the host is not an address of this machine"
        case EACCES?: "this user may not use the port"
        case let code?: "system error \(code)"
        case nil: "the host has no address"
        }
    }

    private func bind() async throws -> any Channel {
        let loop = group.next()
        let resources = try await loop.submit { [configuration] in
            NIOLoopBound(LoopResources(configuration, loop: loop), eventLoop: loop)
        }.get()
        let (traffic, control) = (traffic, ControlPlane(traffic: traffic))

        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    closeAtShutdown(channel)
                    let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
                    let handler = ConnectionHandler(resources: resources.value, traffic: traffic, control: control)
                    try channel.pipeline.syncOperations.addHandlers(decoder, handler)
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // The send buffer has room for a complete answer, so that one system call sends it.
            .childChannelOption(.socketOption(.so_sndbuf), value: 400_000)
            // A second read per request would usually return nothing.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .bind(host: configuration.host, port: configuration.port).get()
    }

    private func closeAtShutdown(_ channel: any Channel) {
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
