internal import Basics
internal import CCurl
internal import EventLoop
internal import LibC

/// Owns a driver, and receives what the loop has for it. Both calls come on the loop's thread, outside any task.
protocol CurlDriverOwner: ReadinessHandler {
    /// The loop that the driver's sockets and timer belong to.
    nonisolated var loop: EventLoop { get }

    /// Calls `CurlDriver.timerFired()`, then looks for transfers that curl has finished.
    func curlTimerFired()
}

/// Connects one curl multi handle to one event loop. It is confined to its owner's actor, and so are curl's callbacks,
/// which curl makes only while the owner calls curl.
///
/// A connection stays watched between calls, which saves two system calls a request. One that wakes the loop while curl
/// wants nothing of it, most likely because the server closed it, is unwatched then.
final class CurlDriver {
    /// The handle that transfers are added to. The driver frees it.
    let multi: UnsafeMutableRawPointer

    private struct Socket {
        var wanted: Readiness = []
        var watched: Readiness = []
        /// True for a connection, of which curl tells when it is closed. Of other sockets, such as a name look-up's, curl
        /// does not, and their numbers are used again.
        var isConnection = false
    }

    /// The sockets that curl uses or has used, indexed by file descriptor.
    private var sockets: [Socket] = []
    // Unowned, because the owner outlives its driver. A weak reference would make every retain of the owner slow.
    private unowned let owner: any CurlDriverOwner
    let loop: EventLoop
    /// True while curl wants to be called at once.
    private var isDue = false
    /// The time at which curl wants to be called even if no socket is ready; `nil` when it wants nothing.
    private var due: Instant?
    /// The loop's timer that is set, which may be earlier than `due`.
    private var armed: (timer: TimerID, at: Instant)?
    private var isEnding = false

    /// Makes a driver without transfers; `nil` when memory is short.
    init?(owner: any CurlDriverOwner, configuration: HTTPConfiguration) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.owner = owner
        loop = owner.loop

        // Unretained is safe: this object owns the multi handle and frees it in `deinit`.
        locsearch_multi_set_callbacks(
            multi, CurlDriver.onSocketWanted, CurlDriver.onTimerWanted, Unmanaged.passUnretained(self).toOpaque())
        locsearch_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        locsearch_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.maxConnectionsPerHost))
    }

    deinit {
        // No socket is watched here any more: the loop keeps a watched socket's handler alive, which keeps this object.
        isEnding = true
        curl_multi_cleanup(multi)
    }

    /// Sets how many connections curl keeps open, those in use and idle ones together.
    func keepConnections(_ count: Int) {
        locsearch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, count)
    }

    /// Takes every socket and the timer out of the loop. Remove all transfers first.
    func end() {
        isEnding = true
        if let armed { loop.cancel(armed.timer) }
        armed = nil
        (isDue, due) = (false, nil)
        for socket in sockets.indices { unwatch(Int32(truncatingIfNeeded: socket)) }
    }

    // MARK: - What the loop tells curl

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

    /// Lets curl do what is due, such as beginning a transfer that was just added or ending one whose deadline has passed.
    func handleDue() {
        isDue = false
        callCurl(socket: CURL_SOCKET_BAD, ready: 0)

        // If curl asks again within that call, it waits for the loop's next turn, so that sockets get theirs.
        if isDue { arm(for: loop.now) }
    }

    /// Does what is due when the loop's timer fires, or sets the timer again when it fired too early.
    func timerFired() {
        armed = nil
        if isDue { return handleDue() }
        guard let due else { return }
        guard due <= loop.now else { return arm(for: due) }

        self.due = nil
        handleDue()
    }

    private func callCurl(socket: Int32, ready bits: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, bits, &running)
    }

    // MARK: - What curl tells the loop

    /// Watches a socket for what curl wants of it. A connection that curl wants nothing of stays watched.
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

    /// Takes a descriptor out of the loop before it is closed, because its number is used again.
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

    /// Notes when curl wants to be called: at once for 0, not at all for a negative number.
    private func callWanted(in milliseconds: Int) {
        // curl asks for a call at once only while it is being called, and the method that calls it then checks `isDue`.
        isDue = milliseconds == 0
        guard milliseconds > 0, !isEnding else {
            due = nil
            return
        }

        let due = loop.now + .milliseconds(milliseconds)
        self.due = due
        arm(for: due)
    }

    /// Sets the loop's timer, unless it is set for an earlier time already.
    ///
    /// curl moves its own timer with almost every call. A timer of the loop that fires too early costs less than moving it
    /// each time: `timerFired()` sets it again for what is due by then.
    private func arm(for due: Instant) {
        if let armed {
            if armed.at <= due { return }
            loop.cancel(armed.timer)
        }

        // The timer keeps the owner, and with it this object, until it fires.
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

    /// Notes a new connection. A transfer sets it as `CURLOPT_SOCKOPTFUNCTION`, with its driver as the context.
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
