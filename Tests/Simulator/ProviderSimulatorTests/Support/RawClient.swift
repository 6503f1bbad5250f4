import Basics
import Dispatch
import Foundation

/// The end of a connection, as seen by this client.
enum Ending: Equatable {
    /// The answer was complete.
    case complete
    /// The peer closed in order, but too early.
    case closedEarly
    /// RST.
    case reset
    /// No more data came in time; the connection is open.
    case silent
}

struct Answer {
    var status = 0
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body = Data()
    var ending = Ending.complete
    /// The seconds from before the request was sent to the end of the answer: never less than the server took.
    var seconds = 0.0

    var text: String { String(decoding: body, as: UTF8.self) }
    /// `nil`: no JSON.
    var json: Any? { try? JSONSerialization.jsonObject(with: body, options: [.fragmentsAllowed]) }
    var object: [String: Any] { json as? [String: Any] ?? [:] }
}

/// A plain TCP client that reports what HTTP libraries hide: resets, early ends, silence. Blocks only its own thread.
final class RawClient {
    private var socket: Int32
    /// The time at which the request of the next answer was sent.
    private var asked: Instant?

    init(port: Int) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { hangUp() }

    /// Closes the connection in order.
    func hangUp() {
        if socket >= 0 { close(socket) }
        socket = -1
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        if asked == nil { asked = .now }
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    enum Piece { case bytes([UInt8]), end, reset, silence }

    /// - Parameter patience: seconds until silence is reported.
    func receive(patience: Double) -> Piece {
        var time = timeval()
        time.tv_sec = Int(patience)
        time.tv_usec = suseconds_t((patience - patience.rounded(.down)) * 1e6)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A call with a timeout is interrupted if the process is stopped for a while: that is no silence.
        var count: Int
        repeat {
            count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
        } while count < 0 && errno == EINTR
        if count > 0 { return .bytes(Array(buffer[..<count])) }
        if count == 0 { return .end }
        return errno == ECONNRESET ? .reset : .silence
    }

    private var rest: [UInt8] = []

    /// Reads one answer; further bytes are kept for the next one.
    /// - Parameter patience: the seconds without a byte until the client gives up.
    /// - Parameter bodyPatience: the same after the head.
    func answer(patience: Double = 30, bodyPatience: Double? = nil, limit: Int = .max, isHead: Bool = false) -> Answer {
        let start = asked ?? .now
        asked = nil
        var answer = readAnswer(patience, bodyPatience ?? patience, limit, isHead)
        answer.seconds = (Instant.now - start) / .seconds(1)
        return answer
    }

    private func readAnswer(_ patience: Double, _ bodyPatience: Double, _ limit: Int, _ isHead: Bool) -> Answer {
        var answer = Answer()
        let blank = Array("\r\n\r\n".utf8)
        var end = Self.find(blank, in: rest)
        while end == nil {
            guard let ending = more(patience) else {
                end = Self.find(blank, in: rest)
                continue
            }
            answer.ending = ending
            return answer
        }
        read(head: rest[..<(end ?? 0)], into: &answer)
        rest.removeFirst((end ?? 0) + 4)
        if isHead || answer.status == 304 || answer.status == 100 { return answer }
        if answer.headers["transfer-encoding"] == "chunked" { return chunked(answer, bodyPatience) }
        let length = Int(answer.headers["content-length"] ?? "") ?? 0
        while rest.count < min(length, limit) {
            if let ending = more(bodyPatience) {
                answer.ending = ending
                break
            }
        }
        let count = min(rest.count, length)
        answer.body = Data(rest[..<count])
        rest.removeFirst(count)
        return answer
    }

    private func chunked(_ answer: Answer, _ patience: Double) -> Answer {
        var answer = answer
        while true {
            guard let line = Self.find(Array("\r\n".utf8), in: rest) else {
                guard let ending = more(patience) else { continue }
                answer.ending = ending
                return answer
            }
            let size = Int(String(decoding: rest[..<line], as: UTF8.self), radix: 16) ?? 0
            while rest.count < line + 2 + size + 2 {
                guard let ending = more(patience) else { continue }
                answer.ending = ending
                return answer
            }
            answer.body.append(contentsOf: rest[(line + 2)..<(line + 2 + size)])
            rest.removeFirst(line + 2 + size + 2)
            if size == 0 { return answer }
        }
    }

    /// - Returns: `nil` if bytes came.
    private func more(_ patience: Double) -> Ending? {
        switch receive(patience: patience) {
        case .bytes(let bytes):
            rest += bytes
            return nil
        case .end: return .closedEarly
        case .reset: return .reset
        case .silence: return .silent
        }
    }

    private func read(head: ArraySlice<UInt8>, into answer: inout Answer) {
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        answer.status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
    }

    private static func find(_ part: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= part.count else { return nil }
        return (0...(bytes.count - part.count)).first { bytes[$0..<($0 + part.count)].elementsEqual(part) }
    }
}

/// Runs blocking work outside Swift's thread pool.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
