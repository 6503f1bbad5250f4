internal import CLinux
import Glibc

/// Waits with epoll and is woken by an eventfd: one system call per iteration of the loop.
@safe final class EpollPoller: Poller {
    private let epoll: Int32
    private let wakeUp: Int32
    // The interest registered with epoll, by file descriptor. Safe without a lock, because only the loop's thread
    // uses a `Poller`, except for `wake()`.
    private nonisolated(unsafe) var known: [Readiness] = []
    // Filled by epoll_wait, on the loop's thread only. It has room for many events, because processing ready events
    // together keeps the code of each step in the processor's caches.
    private nonisolated(unsafe) var events = unsafe [epoll_event](repeating: epoll_event(), count: 256)

    init() throws(EventLoopError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard epoll >= 0, wakeUp >= 0 else { throw EventLoopError(operation: "epoll_create1", code: errno) }
        watch(wakeUp, for: .read)
    }

    deinit {
        close(wakeUp)
        close(epoll)
    }

    func watch(_ fileDescriptor: Int32, for interest: Readiness) {
        let index = Int(fileDescriptor)
        if unsafe index >= known.count {
            unsafe known.append(contentsOf: repeatElement([], count: index + 1 - known.count))
        }

        let before = unsafe known[index]
        guard before != interest else { return }
        unsafe known[index] = interest

        var event = unsafe epoll_event()
        if interest.contains(.read) { unsafe event.events |= EPOLLIN.rawValue }
        if interest.contains(.write) { unsafe event.events |= EPOLLOUT.rawValue }
        unsafe event.data.fd = fileDescriptor

        let operation = interest.isEmpty ? EPOLL_CTL_DEL : before.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        if unsafe epoll_ctl(epoll, operation, fileDescriptor, &event) != 0, !interest.isEmpty {
            // Closing a descriptor removes it from epoll without notice, and a new descriptor may reuse its number.
            // Then `known` differs from epoll's own set, so the other operation is tried.
            let other = operation == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
            _ = unsafe epoll_ctl(epoll, other, fileDescriptor, &event)
        }
    }

    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void) {
        let count = unsafe epoll_wait(epoll, &events, Int32(events.count), milliseconds)
        guard count > 0 else { return }

        for index in 0..<Int(count) {
            let (fileDescriptor, bits) = unsafe (events[index].data.fd, events[index].events)
            if fileDescriptor == wakeUp {
                var value: UInt64 = 0
                _ = unsafe read(wakeUp, &value, 8)
                continue
            }

            var ready: Readiness = []
            if bits & EPOLLIN.rawValue != 0 { ready.insert(.read) }
            if bits & EPOLLOUT.rawValue != 0 { ready.insert(.write) }
            if bits & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { ready.insert(.failed) }
            report(fileDescriptor, ready)
        }
    }

    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeUp, &one, 8)
    }
}
