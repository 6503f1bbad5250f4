internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose client keeps the server waiting, or for which there is no room.
///
/// It precedes the HTTP decoder and sees raw bytes, including those of a head that never ends. `RequestWatch`, after the
/// decoder, reports where requests and answers begin and end.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: ConnectionLimits
    private let table: ConnectionTable
    private var clock: ConnectionClock
    private var isAdmitted = false
    private var nextCheck: Scheduled<Void>?
    /// All bytes written to this connection, whether or not the client has read them.
    private var bytesWritten = 0

    init(_ limits: ConnectionLimits, table: ConnectionTable) {
        self.limits = limits
        self.table = table
        clock = ConnectionClock(limits, now: .now())
    }

    // MARK: - Connection events

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end(context) }

    private func begin(_ context: ChannelHandlerContext) {
        guard !isAdmitted else { return }
        guard table.admit(context.channel) else {
            context.close(promise: nil)
            return
        }

        isAdmitted = true
        clock = ConnectionClock(limits, now: .now())
        scheduleCheck(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        nextCheck?.cancel()
        nextCheck = nil
        table.remove(context.channel)
    }

    // MARK: - Requests and answers

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        clock.receiveBytes(at: .now())
        context.fireChannelRead(data)
    }

    /// Called by `RequestWatch`, on the same event loop.
    func receive(_ part: HTTPServerRequestPart, in context: ChannelHandlerContext) {
        switch part {
        case .head: clock.receiveHead(at: .now())
        case .body: return
        case .end:
            clock.receiveEnd(at: .now())
            if clock.isAnswering { table.beginAnswering(context.channel) } else { table.beginWaiting(context.channel) }
        }
    }

    /// Called by `RequestWatch`, on the same event loop.
    func endAnswer(in context: ChannelHandlerContext) {
        clock.endAnswer(at: .now())
        if !clock.isAnswering { table.beginWaiting(context.channel) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        bytesWritten &+= unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    // MARK: - Timeouts

    /// Checks of the clock at regular times need no timer that follows each event.
    private func scheduleCheck(_ context: ChannelHandlerContext) {
        nextCheck = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.timeBetweenChecks)) {
            [weak self] in
            self?.check(context)
        }
    }

    private func check(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        clock.look(pending: pendingBytes(context), written: bytesWritten, at: now)
        if clock.isOverdue(at: now) { context.close(promise: nil) } else { scheduleCheck(context) }
    }

    /// Returns the bytes that the client has not read yet.
    private func pendingBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// Reports to a connection's guard where requests and answers begin and end. It follows the HTTP decoder.
final class RequestWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard

    init(_ connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(unwrapInboundIn(data), in: context)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        if case .end = unwrapOutboundIn(data) { connection.endAnswer(in: context) }
    }
}
