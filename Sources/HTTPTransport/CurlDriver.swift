internal import CCurl
internal import EventLoop

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Connects one curl multi handle to one event loop. Confined to the transport's actor; curl's callbacks come within
/// its calls. Sockets stay watched between transfers: that saves two system calls a request.
final class CurlDriver {
    let multi: UnsafeMutableRawPointer
    private let loop: EventLoop
    private weak var handler: (any ReadinessHandler)?
    /// What curl wants of a socket, and what the loop watches it for, by file descriptor.
    private var wanted: [Readiness] = []
    private var watched: [Readiness] = []
    /// When curl wants to be called without a socket being ready.
    private(set) var due: ContinuousClock.Instant?
    private var armed: (timer: TimerID, at: ContinuousClock.Instant)?
    private let onTimer: () -> Void

    /// - Parameter onTimer: called on the loop when `due` has come; calls `timeout`.
    init?(loop: EventLoop, configuration: HTTPConfiguration, onTimer: @escaping () -> Void) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.loop = loop
        self.onTimer = onTimer
        // Unretained: the multi handle goes with this object.
        locsearch_multi_set_callbacks(
            multi, CurlDriver.socket, CurlDriver.timer, Unmanaged.passUnretained(self).toOpaque())
        locsearch_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maxIdleConnections)
        locsearch_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    deinit { curl_multi_cleanup(multi) }

    func attach(_ handler: any ReadinessHandler) { self.handler = handler }

    func ready(_ socket: Int32, _ readiness: Readiness) {
        guard wanted.indices.contains(Int(socket)), !wanted[Int(socket)].isEmpty else {
            // An idle connection that the server closed, most likely; curl finds out when it wants to use it.
            unwatch(socket)
            return
        }
        var bits: Int32 = 0
        if readiness.contains(.read) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.write) { bits |= CURL_CSELECT_OUT }
        if readiness.contains(.failed) { bits |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, bits, &running)
    }

    /// Gives curl the call it asked for, if its time has come.
    func timeout() {
        guard let due else { return }
        guard due <= .now else { return arm(for: due) }
        self.due = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
        // Asked for again within that call: in the loop's next turn, so that sockets get theirs.
        if let due = self.due { arm(for: due) }
    }

    func stop() {
        if let armed { loop.cancel(armed.timer) }
        armed = nil
        due = nil
    }

    private func want(_ readiness: Readiness, of socket: Int32) {
        let index = Int(socket)
        if index >= wanted.count {
            wanted.append(contentsOf: repeatElement([], count: index + 1 - wanted.count))
            watched.append(contentsOf: repeatElement([], count: index + 1 - watched.count))
        }
        wanted[index] = readiness
        guard !readiness.isEmpty, watched[index] != readiness, let handler else { return }
        watched[index] = readiness
        loop.watch(socket, for: readiness, handler)
    }

    private func unwatch(_ socket: Int32) {
        guard watched.indices.contains(Int(socket)), !watched[Int(socket)].isEmpty else { return }
        watched[Int(socket)] = []
        loop.unwatch(socket)
    }

    private func setDue(_ milliseconds: Int) {
        guard milliseconds >= 0 else {
            due = nil
            return
        }
        let due = ContinuousClock.now + .milliseconds(milliseconds)
        self.due = due
        // At once is for whoever is calling curl just now: it asks `timeout` when it is done.
        if milliseconds > 0 { arm(for: due) }
    }

    /// One timer is enough: one that fires too early finds out and arms itself again.
    private func arm(for due: ContinuousClock.Instant) {
        if let armed {
            if armed.at <= due { return }
            loop.cancel(armed.timer)
        }
        let timer = loop.schedule(at: due) { [weak self] in
            self?.armed = nil
            self?.onTimer()
        }
        armed = (timer, due)
    }

    private static let socket: locsearch_socket_fn = { _, socket, what, context, _ in
        guard let context else { return 0 }
        let readiness: Readiness =
            switch what {
            case CURL_POLL_IN: .read
            case CURL_POLL_OUT: .write
            case CURL_POLL_INOUT: [.read, .write]
            default: []
            }
        Unmanaged<CurlDriver>.fromOpaque(context).takeUnretainedValue().want(readiness, of: socket)
        return 0
    }

    private static let timer: locsearch_timer_fn = { _, milliseconds, context in
        guard let context else { return 0 }
        Unmanaged<CurlDriver>.fromOpaque(context).takeUnretainedValue().setDue(milliseconds)
        return 0
    }

    /// For `CURLOPT_CLOSESOCKETFUNCTION`: a descriptor leaves the loop before it is closed, as its number comes again.
    static let closeSocket: locsearch_close_fn = { context, socket in
        if let context {
            let driver = Unmanaged<CurlDriver>.fromOpaque(context).takeUnretainedValue()
            if driver.wanted.indices.contains(Int(socket)) { driver.wanted[Int(socket)] = [] }
            driver.unwatch(socket)
        }
        return close(socket)
    }
}
