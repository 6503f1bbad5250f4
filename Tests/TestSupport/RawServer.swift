import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP server on 127.0.0.1 whose every byte is controlled by a test. One thread accepts connections, and each connection has a
/// thread that runs the test's script. After the script, the connection is closed.
package final class RawServer: Sendable {
    /// The port that the server listens on.
    package let port: UInt16
    private let listener: Int32
    private let state = State()

    /// The state that the threads share. They do not retain the server itself, so that it ends when the test releases it.
    private final class State: Sendable {
        let accepted = Atomic<Int>(0)
        let open = Atomic<Int>(0)
        let isStopped = Atomic<Bool>(false)
        let requests = Mutex<[[UInt8]]>([])
    }

    /// Starts to listen.
    /// - Parameter serve: the script. It runs on a dedicated thread for each connection and may block it.
    package init(serve: @escaping @Sendable (RawConnection) -> Void) throws {
        (listener, port) = try Self.listen()
        Thread.detachNewThread { [listener, state] in
            // `stop` ends this loop.
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                let number = state.accepted.add(1, ordering: .relaxed).oldValue
                state.open.add(1, ordering: .relaxed)
                Thread.detachNewThread {
                    serve(
                        RawConnection(number: number, socket: socket) { request in
                            state.requests.withLock { $0.append(request) }
                        })
                    close(socket)
                    state.open.subtract(1, ordering: .relaxed)
                }
            }
            close(listener)
        }
    }

    deinit { stop() }

    /// Ends listening. Open connections go on.
    package func stop() {
        // A second call must do nothing, because the thread closes the listener, whose number may then belong to another socket.
        guard !state.isStopped.exchange(true, ordering: .relaxed) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(port)" }
    /// The number of connections accepted so far.
    package var connectionCount: Int { state.accepted.load(ordering: .relaxed) }
    /// The number of connections whose script has not ended.
    package var openCount: Int { state.open.load(ordering: .relaxed) }
    /// The whole requests, head and body as they were received, in the order of arrival.
    package var requests: [[UInt8]] { state.requests.withLock { $0 } }

    /// Returns a port on which no process listens.
    package static func unusedPort() throws -> UInt16 {
        let (socket, port) = try listen()
        close(socket)
        return port
    }

    private static func listen() throws -> (socket: Int32, port: UInt16) {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, size) == 0 && getsockname(listener, pointer, &size) == 0
            }
        }
        #if canImport(Glibc)
            let isListening = isBound && Glibc.listen(listener, 1024) == 0
        #else
            let isListening = isBound && Darwin.listen(listener, 1024) == 0
        #endif
        guard isListening else { throw NotInTime(description: "cannot listen on 127.0.0.1: errno \(errno)") }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// The server's end of one connection. Its calls block the calling thread.
package struct RawConnection: Sendable {
    /// The number of the connection, 0 for the first that the server accepted.
    package let number: Int
    let socket: Int32
    let note: @Sendable ([UInt8]) -> Void

    /// Reads one request: its head, and as many bytes as `Content-Length` states.
    /// - Returns: `nil` if the peer closed the connection instead.
    package func readRequest() -> [UInt8]? {
        var request: [UInt8] = []
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = receive(atMost: 1) else { return nil }
            request += byte
        }
        let end = request.count + Self.contentLength(request[...])
        while request.count < end {
            guard let bytes = receive(atMost: end - request.count) else { return nil }
            request += bytes
        }
        note(request)
        return request
    }

    /// Waits for data, and reads what is available.
    /// - Returns: `nil` if the peer closed the connection instead.
    package func receive(atMost count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: min(count, 65_536))
        let received = unsafe recv(socket, &bytes, bytes.count, 0)
        return received > 0 ? Array(bytes.prefix(received)) : nil
    }

    /// Sends some bytes.
    /// - Returns: `false` if the system did not accept all of them.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
                let flags = Int32(MSG_NOSIGNAL)
            #else
                let flags: Int32 = 0
            #endif
            let count = unsafe rest.withUnsafeBytes { unsafe Self.sendBytes(socket, $0, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends a text.
    /// - Returns: `false` if the system did not accept all of it.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Answers with a body, and keeps the connection open.
    @discardableResult
    package func answer(_ body: String = "{}", headers: String = "", status: Int = 200) -> Bool {
        send("HTTP/1.1 \(status) OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// Answers every request with the same body until the peer closes.
    package func answerAll(_ body: String = "{}") {
        while readRequest() != nil { answer(body) }
    }

    /// Waits until the peer has closed the connection, and drops the bytes that it sends until then.
    package func waitForClose() {
        while receive(atMost: 65_536) != nil {}
    }

    /// Closes the sending direction. The peer may still send.
    package func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Makes the end of the script reset the connection instead of closing it.
    package func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Blocks the calling thread for a while.
    package func pause(milliseconds: UInt32) { usleep(milliseconds * 1000) }

    private static func sendBytes(_ socket: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, flags)
        #else
            unsafe Darwin.send(socket, bytes.baseAddress, bytes.count, flags)
        #endif
    }

    private static func contentLength(_ head: ArraySlice<UInt8>) -> Int {
        for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length" {
                return Int(parts[1].drop { $0 == " " }) ?? 0
            }
        }
        return 0
    }
}
