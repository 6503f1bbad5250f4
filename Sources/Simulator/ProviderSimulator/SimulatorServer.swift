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
    /// The port on which the simulator listens.
    package let port: Int
    /// The address as `http://host:port`, without a final slash.
    package let baseURL: String
    private let traffic: TrafficControl
    private let channels: OpenChannels
    private let group: MultiThreadedEventLoopGroup

    private init(
        host: String, port: Int, traffic: TrafficControl, channels: OpenChannels, group: MultiThreadedEventLoopGroup
    ) {
        self.port = port
        baseURL = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        (self.traffic, self.channels, self.group) = (traffic, channels, group)
    }

    /// Starts a simulator, which listens when this returns.
    /// - Throws: `SimulatorError`.
    package static func start(_ configuration: SimulatorConfiguration) async throws(SimulatorError) -> SimulatorServer {
        try configuration.validate()
        let (traffic, channels) = (TrafficControl(profile: configuration.profile), OpenChannels())
        // One event loop serves more than 10,000 requests a second.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

        let (host, port) = (configuration.host, configuration.port)
        do {
            let channel = try await bind(configuration, traffic: traffic, channels: channels, group: group)
            channels.add(channel)
            return SimulatorServer(
                host: host, port: channel.localAddress?.port ?? port, traffic: traffic, channels: channels,
                group: group)
        } catch {
            try? await group.shutdownGracefully()
            throw .cannotListen(host: host, port: port, reason: reason(of: error))
        }
    }

    /// Changes how future requests to these APIs are treated.
    /// - Throws: `SimulatorError.invalidConfiguration` if the profile is not valid. No profile is changed then.
    package func setProfile(_ profile: TrafficProfile, of apis: [ProviderAPI]) throws(SimulatorError) {
        try traffic.configure(apis) { $0 = profile }
    }

    /// Closes all connections immediately and stops listening. May be called more than once.
    package func shutdown() async {
        await channels.closeAll()
        try? await group.shutdownGracefully()
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

    private static func bind(
        _ configuration: SimulatorConfiguration, traffic: TrafficControl, channels: OpenChannels,
        group: MultiThreadedEventLoopGroup
    ) async throws -> any Channel {
        let loop = group.next()
        let resources = try await loop.submit {
            NIOLoopBound(LoopResources(configuration, loop: loop), eventLoop: loop)
        }.get()
        let control = ControlPlane(traffic: traffic)

        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    channels.add(channel)
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
}

/// The channels of a server, which its shutdown closes.
private final class OpenChannels: Sendable {
    /// `nil` once they have been closed.
    private let channels = Mutex<[ObjectIdentifier: any Channel]?>([:])

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isOpen = channels.withLock { channels in
            channels?[id] = channel
            return channels != nil
        }

        guard isOpen else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { $0?[id] = nil } }
    }

    func closeAll() async {
        let open = channels.withLock { channels in
            defer { channels = nil }
            return channels ?? [:]
        }
        for channel in open.values { try? await channel.close() }
    }
}
