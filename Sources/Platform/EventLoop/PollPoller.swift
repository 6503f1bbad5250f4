import LibC

/// Waits with poll(2) and is woken by a pipe. For systems without epoll; its cost grows with the number of watched
/// descriptors.
final class PollPoller: Poller {
    private let wakeUp: (read: Int32, write: Int32)
    // Safe without a lock, because only the loop's thread uses a `Poller`, except for `wake()`.
    private nonisolated(unsafe) var watched: [pollfd] = []

    init() throws(EventLoopError) {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw EventLoopError(operation: "pipe", code: errno) }
        wakeUp = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        watch(wakeUp.read, for: .read)
    }

    deinit {
        close(wakeUp.read)
        close(wakeUp.write)
    }

    func watch(_ fileDescriptor: Int32, for interest: Readiness) {
        let events = Int16(
            (interest.contains(.read) ? Int32(POLLIN) : 0) | (interest.contains(.write) ? Int32(POLLOUT) : 0))
        let index = unsafe watched.firstIndex { $0.fd == fileDescriptor }
        switch (index, interest.isEmpty) {
        case (let index?, true): unsafe watched.remove(at: index)
        case (let index?, false): unsafe watched[index].events = events
        case (nil, false): unsafe watched.append(pollfd(fd: fileDescriptor, events: events, revents: 0))
        case (nil, true): break
        }
    }

    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void) {
        guard unsafe poll(&watched, nfds_t(watched.count), milliseconds) > 0 else { return }
        // A handler may change the watched descriptors, so this iterates over a copy.
        for entry in unsafe watched where entry.revents != 0 {
            if entry.fd == wakeUp.read {
                var bytes = [UInt8](repeating: 0, count: 64)
                _ = unsafe read(wakeUp.read, &bytes, bytes.count)
                continue
            }

            let events = Int32(entry.revents)
            var ready: Readiness = []
            if events & Int32(POLLIN) != 0 { ready.insert(.read) }
            if events & Int32(POLLOUT) != 0 { ready.insert(.write) }
            if events & Int32(POLLERR | POLLHUP | POLLNVAL) != 0 { ready.insert(.failed) }
            report(entry.fd, ready)
        }
    }

    func wake() {
        var one: UInt8 = 1
        _ = unsafe write(wakeUp.write, &one, 1)
    }
}
