internal import Basics
internal import CCurl
internal import EventLoop
internal import LibC

/// Owns a driver, and receives the loop's events for it. Both methods are called on the loop's thread, outside any
/// task.
protocol CurlDriverOwner: ReadinessHandler {
    /// The loop that the driver's sockets and timer belong to.
    nonisolated var loop: EventLoop { get }

    /// Calls `CurlDriver.timerFired()`, then handles the transfers that curl has finished.
    func curlTimerFired()
}

/// Connects one curl multi handle to one event loop. It is confined to its owner's actor. So are curl's callbacks,
/// because curl makes them only while the owner calls curl.
///
/// A connection stays watched between calls, which saves two system calls per request. If it becomes ready while curl
/// does not use it, most likely because the server closed it, the driver unwatches it.
final class CurlDriver {
    /// The handle that transfers are added to. The driver frees it.
    let multi: UnsafeMutableRawPointer

    private struct Socket {
        var wanted: Readiness = []
        var watched: Readiness = []
        /// True for a connection, whose closing curl reports. curl does not report the closing of other sockets, such
        /// as those of a name lookup, and their numbers are reused.
        var isConnection = false
    }

    /// The sockets that curl uses or has used, indexed by file descriptor.
    private var sockets: [Socket] = []
    // Unowned, because the owner outlives its driver. A weak reference would slow down every retain of the owner.
    private unowned let owner: any CurlDriverOwner
    let loop: EventLoop
    /// True while curl requests an immediate call.
    private var isDue = false
    /// When curl requests a call even if no socket is ready; `nil` if it requests none.
    private var due: Instant?
    /// The loop's pending timer, which may be earlier than `due`.
    private var armed: (timer: TimerID, at: Instant)?
    private var isEnding = false
    /// The number of transfers that curl had not finished at the end of the last call to it.
    private(set) var running = 0

    /// Makes a driver without transfers; `nil` if memory is short.
    init?(owner: any CurlDriverOwner) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.owner = owner
        loop = owner.loop

        // Unretained is safe: this object owns the multi handle and frees it in `deinit`.
        locsearch_multi_set_callbacks(
            multi, CurlDriver.onSocketWanted, CurlDriver.onTimerWanted, Unmanaged.passUnretained(self).toOpaque())
        locsearch_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    deinit {
        // No socket is watched at this point: the loop retains a watched socket's handler, which retains this object.
        isEnding = true
        curl_multi_cleanup(multi)
    }

    /// Sets the number of connections that curl keeps open, both used and idle.
    func keepConnections(_ count: Int) {
        locsearch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, count)
    }

    /// Removes all sockets and the timer from the loop. Remove all transfers first.
    func end() {
        isEnding = true
        if let armed { loop.cancel(armed.timer) }
        armed = nil
        (isDue, due) = (false, nil)
        for socket in sockets.indices { unwatch(Int32(truncatingIfNeeded: socket)) }
    }

    // MARK: - Events from the loop

    func ready(_ socket: Int32, readiness: Readiness) {
        guard sockets.indices.contains(Int(socket)), !sockets[Int(socket)].wanted.isEmpty else {
            unwatch(socket)
            return
        }

        var bits: Int32 = 0
        if readiness.contains(.read) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.write) { bits |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { bits |= CURL_CSELECT_ERR }
        callCurl(socket: socket, ready: bits)

        if isDue { handleDue() }
    }

    /// Calls curl for due work, such as beginning a transfer that was just added, or ending one past its deadline.
    func handleDue() {
        isDue = false
        callCurl(socket: CURL_SOCKET_BAD, ready: 0)

        // If curl requests another call during this one, it waits for the loop's next iteration, so that sockets are
        // not starved.
        if isDue { arm(for: loop.now) }
    }

    /// Does due work when the loop's timer fires, or sets the timer again if it fired too early.
    func timerFired() {
        armed = nil
        if isDue { return handleDue() }
        guard let due else { return }
        guard due <= loop.now else { return arm(for: due) }

        self.due = nil
        handleDue()
    }

    private func callCurl(socket: Int32, ready bits: Int32) {
        var count: Int32 = 0
        curl_multi_socket_action(multi, socket, bits, &count)
        running = Int(count)
    }

    // MARK: - Requests from curl

    /// Watches a socket for the events that curl requests. A connection without requested events stays watched.
    private func socketWanted(_ socket: Int32, for readiness: Readiness) {
        let index = Int(socket)
        makeRoom(for: index)

        sockets[index].wanted = readiness
        if readiness.isEmpty {
            if !sockets[index].isConnection { unwatch(socket) }
        } else if sockets[index].watched != readiness {
            sockets[index].watched = readiness
            loop.watch(socket, for: readiness, handler: owner)
        }
    }

    private func socketOpened(_ socket: Int32) {
        makeRoom(for: Int(socket))
        sockets[Int(socket)].isConnection = true
    }

    /// Removes a descriptor from the loop before it is closed, because its number is reused.
    private func socketCloses(_ socket: Int32) {
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

    /// Records when curl wants to be called: at once for 0, not at all for a negative number.
    private func callWanted(in milliseconds: Int) {
        // curl requests an immediate call only while it is being called, and its caller then checks `isDue`.
        isDue = milliseconds == 0
        guard milliseconds > 0, !isEnding else {
            due = nil
            return
        }

        let due = loop.now + .milliseconds(milliseconds)
        self.due = due
        arm(for: due)
    }

    /// Sets the loop's timer, unless it is already set for an earlier time.
    ///
    /// curl moves its own timer with almost every call. A loop timer that fires too early costs less than moving it
    /// each time: `timerFired()` then sets it again.
    private func arm(for due: Instant) {
        if let armed {
            if armed.at <= due { return }
            loop.cancel(armed.timer)
        }

        // The timer retains the owner, and with it this object, until it fires.
        let timer = loop.schedule(at: due) { [owner] in owner.curlTimerFired() }
        armed = (timer, due)
    }

    // MARK: - curl's callbacks

    private static func driver(_ context: UnsafeMutableRawPointer?) -> CurlDriver? {
        // Unretained is safe: curl calls back only while this driver or its owner calls curl.
        context.map { Unmanaged<CurlDriver>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let onSocketWanted: locsearch_socket_fn = { _, socket, what, context, _ in
        let readiness: Readiness =
            switch what {
            case CURL_POLL_IN: .read
            case CURL_POLL_OUT: .write
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        driver(context)?.socketWanted(socket, for: readiness)
        return 0
    }

    private static let onTimerWanted: locsearch_timer_fn = { _, milliseconds, context in
        driver(context)?.callWanted(in: milliseconds)
        return 0
    }

    /// Registers a new connection. A transfer sets it as `CURLOPT_SOCKOPTFUNCTION`, with its driver as the context.
    static let onSocketOpened: locsearch_opened_fn = { context, socket, _ in
        driver(context)?.socketOpened(socket)
        return CURL_SOCKOPT_OK
    }

    /// Closes a socket. A transfer sets it as `CURLOPT_CLOSESOCKETFUNCTION`, with its driver as the context.
    static let onCloseSocket: locsearch_close_fn = { context, socket in
        driver(context)?.socketCloses(socket)
        return close(socket)
    }
}
