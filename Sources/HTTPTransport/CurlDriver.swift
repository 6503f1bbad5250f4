internal import CCurl
internal import EventLoop

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Connects one curl multi handle to one event loop. Confined to the transport's actor; curl's callbacks come within
/// its calls of curl.
///
/// Connections stay watched between calls, which saves two system calls a request; one that wakes the loop while curl
/// wants nothing of it (the server closed it, most likely) is unwatched then. Name look-ups run on threads of curl's.
final class CurlDriver {
    let multi: UnsafeMutableRawPointer

    private struct Socket {
        var wanted: Readiness = []
        var watched: Readiness = []
        /// A connection tells when it is closed. Other sockets (a look-up's) don't, and their numbers come again.
        var isConnection = false
    }
    /// By file descriptor.
    private var sockets: [Socket] = []
    /// Owns this object. Not weak: a weak reference makes every retain of its target slow.
    private unowned let transport: HTTPTransport
    private let loop: EventLoop
    /// curl wants a call at once.
    private var isDue = false
    /// When curl wants a call even if no socket is ready.
    private var due: ContinuousClock.Instant?
    private var armed: (timer: TimerID, at: ContinuousClock.Instant)?
    private var isEnding = false

    /// - Parameter transport: told by the loop of ready sockets, for which it calls `ready`, and calls `timerFired`.
    init?(transport: HTTPTransport, configuration: HTTPConfiguration) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.transport = transport
        loop = transport.loop
        // Unretained is safe: this object owns the multi handle and ends it in `deinit`.
        locsearch_multi_set_callbacks(
            multi, CurlDriver.socketWanted, CurlDriver.timerWanted, Unmanaged.passUnretained(self).toOpaque())
        locsearch_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        locsearch_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.maxConnectionsPerHost))
    }

    deinit {
        // Nothing is watched any more: a watched socket keeps the handler, and with it this object, until `end()` or
        // until the loop itself is gone.
        isEnding = true
        curl_multi_cleanup(multi)
    }

    /// Of connections in use and idle ones together.
    func keepConnections(_ count: Int) {
        locsearch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, count)
    }

    /// Takes everything out of the loop. No transfer is left by then.
    func end() {
        isEnding = true
        if let armed { loop.cancel(armed.timer) }
        armed = nil
        (isDue, due) = (false, nil)
        for socket in sockets.indices { unwatch(Int32(socket)) }
    }

    // MARK: - What the loop tells curl

    func ready(_ socket: Int32, _ readiness: Readiness) {
        guard sockets.indices.contains(Int(socket)), !sockets[Int(socket)].wanted.isEmpty else {
            unwatch(socket)
            return
        }
        var bits: Int32 = 0
        if readiness.contains(.read) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.write) { bits |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { bits |= CURL_CSELECT_ERR }
        act(on: socket, bits)
        if isDue { timeout() }
    }

    /// Gives curl the call it wants for whatever is due: a transfer just added, a deadline.
    func timeout() {
        isDue = false
        act(on: CURL_SOCKET_BAD, 0)
        // Wanted again within that call: in the loop's next turn, so that sockets get theirs.
        if isDue { arm(for: .now) }
    }

    func timerFired() {
        armed = nil
        if isDue { return timeout() }
        guard let due else { return }
        guard due <= .now else { return arm(for: due) }
        self.due = nil
        timeout()
    }

    private func act(on socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, bits, &running)
    }

    // MARK: - What curl tells the loop

    private func want(_ readiness: Readiness, of socket: Int32) {
        let index = Int(socket)
        makeRoom(for: index)
        sockets[index].wanted = readiness
        if readiness.isEmpty {
            if !sockets[index].isConnection { unwatch(socket) }
        } else if sockets[index].watched != readiness {
            sockets[index].watched = readiness
            loop.watch(socket, for: readiness, handler: transport)
        }
    }

    private func opened(_ socket: Int32) {
        makeRoom(for: Int(socket))
        sockets[Int(socket)].isConnection = true
    }

    /// A descriptor leaves the loop before it is closed, as its number comes again.
    private func closing(_ socket: Int32) {
        guard !isEnding, sockets.indices.contains(Int(socket)) else { return }
        unwatch(socket)
        sockets[Int(socket)] = Socket()
    }

    private func unwatch(_ socket: Int32) {
        guard sockets.indices.contains(Int(socket)), !sockets[Int(socket)].watched.isEmpty else { return }
        sockets[Int(socket)].watched = []
        loop.unwatch(socket)
    }

    private func makeRoom(for index: Int) {
        guard index >= sockets.count else { return }
        sockets.append(contentsOf: repeatElement(Socket(), count: index + 1 - sockets.count))
    }

    private func wantCall(in milliseconds: Int) {
        isDue = milliseconds == 0
        // At once: whoever is calling curl just now looks at `isDue` when that call is over.
        guard milliseconds > 0, !isEnding else {
            due = nil
            return
        }
        let due = ContinuousClock.now + .milliseconds(milliseconds)
        self.due = due
        arm(for: due)
    }

    /// curl moves its timer with almost every call. One timer of the loop's is enough: when it fires too early, it is
    /// armed again for what is due by then.
    private func arm(for due: ContinuousClock.Instant) {
        if let armed {
            if armed.at <= due { return }
            loop.cancel(armed.timer)
        }
        // The loop keeps the transport until then.
        let timer = loop.schedule(at: due) { [transport] in transport.timerFired() }
        armed = (timer, due)
    }

    // MARK: - curl's callbacks

    private static func driver(_ context: UnsafeMutableRawPointer?) -> CurlDriver? {
        // Safe: curl calls back only within calls of its own that the driver makes, or made for it by the transport.
        context.map { Unmanaged<CurlDriver>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let socketWanted: locsearch_socket_fn = { _, socket, what, context, _ in
        let readiness: Readiness =
            switch what {
            case CURL_POLL_IN: .read
            case CURL_POLL_OUT: .write
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        driver(context)?.want(readiness, of: socket)
        return 0
    }

    private static let timerWanted: locsearch_timer_fn = { _, milliseconds, context in
        driver(context)?.wantCall(in: milliseconds)
        return 0
    }

    /// For `CURLOPT_SOCKOPTFUNCTION`.
    static let socketOpened: locsearch_opened_fn = { context, socket, _ in
        driver(context)?.opened(socket)
        return CURL_SOCKOPT_OK
    }

    /// For `CURLOPT_CLOSESOCKETFUNCTION`.
    static let closeSocket: locsearch_close_fn = { context, socket in
        driver(context)?.closing(socket)
        return close(socket)
    }
}
