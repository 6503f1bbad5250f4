internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// HTTP/1.1 connections with `ConnectionLimits`.
struct GuardedChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let http: HTTP1Channel
    private let limits: ConnectionLimits
    private let table: ConnectionTable

    init(_ responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, table: ConnectionTable) {
        http = HTTP1Channel(responder: responder)
        self.limits = limits
        self.table = table
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let (connection, pipeline) = (ConnectionGuard(limits, table: table), channel.pipeline.syncOperations)
        do {
            try pipeline.addHandler(connection)
            let value = http.setup(channel: channel, logger: logger)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestWatch(connection), position: .after(decoder))
            return value
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    @concurrent
    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}
