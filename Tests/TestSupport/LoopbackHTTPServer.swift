import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A small HTTP/1.1 server on 127.0.0.1 with a thread for each connection, for suites that need an answer over real TCP.
package final class LoopbackHTTPServer: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        package var body: [UInt8]
        /// The time before the answer begins.
        package var delay: Duration

        package init(status: Int = 200, body: String, delay: Duration = .zero) {
            self.status = status
            self.body = Array(body.utf8)
            self.delay = delay
        }
    }

    /// The port that the server listens on.
    package let port: UInt16
    private let listener: Int32
    private let log = RequestLog()

    private let isStopped = Atomic<Bool>(false)

    private final class RequestLog: Sendable {
        let targets = Mutex<[String]>([])
    }

    /// The targets of the requests so far, in the order of arrival.
    package var targets: [String] { log.targets.withLock { $0 } }
    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Starts to listen.
    /// - Parameter answer: makes the answer to a request. It is called on the connection's thread.
    package init(answer: @escaping @Sendable (_ target: String) -> Answer) throws {
        #if canImport(Glibc)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, size) == 0 && listen(listener, 512) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        guard isListening else { throw NotInTime(description: "cannot listen on 127.0.0.1") }
        port = UInt16(bigEndian: address.sin_port)
        let log = log
        Thread.detachNewThread {
            // `stop` ends this loop.
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread { Self.serve(connection, answer, log) }
            }
            // `stop` must not close the listener: this thread could be about to call `accept` with a number
            // that belongs to another socket by then.
            close(listener)
        }
    }

    /// Ends listening. Connections end when their clients close them.
    package func stop() {
        // A second call must do nothing, because the thread closes the listener, whose number may then belong to another socket.
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func serve(
        _ connection: Int32, _ answer: @Sendable (String) -> Answer, _ log: RequestLog
    ) {
        defer { close(connection) }
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            while let end = endOfHead(pending) {
                let head = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(..<end)
                let parts = head.split(separator: " ", maxSplits: 2)
                guard parts.count == 3 else { return }
                let target = String(parts[1])
                log.targets.withLock { $0.append(target) }
                let answer = answer(target)
                if answer.delay > .zero { usleep(UInt32(answer.delay / .microseconds(1))) }
                let response =
                    Array("HTTP/1.1 \(answer.status) X\r\nContent-Length: \(answer.body.count)\r\n\r\n".utf8)
                    + answer.body
                guard unsafe send(connection, response, response.count, Int32(MSG_NOSIGNAL)) == response.count else {
                    return
                }
            }
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    /// Returns the index after the blank line that ends a head; `nil` if it has not arrived.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }
}
