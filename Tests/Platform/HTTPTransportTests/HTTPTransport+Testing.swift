import Basics
import EventLoop
import HTTPTransport
import Synchronization
import TestSupport
import Testing

/// An API key in the URL of every failing test, which no error may contain.
let key = "SECRET-0123456789"

/// A number that a server's thread raises and a test reads.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add(_ number: Int) { count.add(number, ordering: .acquiringAndReleasing) }
}

/// Runs `body` with a transport on a separate loop, and ends both afterwards.
func withTransport<Result>(
    _ configure: (inout HTTPConfiguration) -> Void = { _ in }, _ body: (HTTPTransport) async throws -> Result
) async throws -> Result {
    var configuration = HTTPConfiguration()
    configure(&configuration)
    let loop = try EventLoop()
    let transport = HTTPTransport(loop: loop, configuration: configuration)
    do {
        let result = try await body(transport)
        await transport.shutdown()
        loop.stop()
        return result
    } catch {
        await transport.shutdown()
        loop.stop()
        throw error
    }
}

extension HTTPTransport {
    /// Gets `url`.
    /// - Parameter limit: the time until the deadline, which is generous in tests of other properties.
    func get(_ url: String, within limit: Duration = .seconds(20)) async throws -> HTTPResponse {
        try await send(HTTPRequest(url: url), before: .now + limit)
    }

    /// Makes a call that has to fail, checks that the error's text contains nothing of the URL but the host, and returns its kind;
    /// `nil` if the call succeeded, which is an issue.
    func failure(
        of request: HTTPRequest, within limit: Duration = .seconds(20), location: SourceLocation = #_sourceLocation
    ) async -> HTTPError.Kind? {
        do {
            let response = try await send(request, before: .now + limit)
            Issue.record("answered \(response.status), \(response.body.count) bytes", sourceLocation: location)
            return nil
        } catch {
            #expect(!error.description.contains(key), sourceLocation: location)
            #expect(!error.description.contains("/"), "no part of the URL but the host", sourceLocation: location)
            return error.kind
        }
    }

    /// Does the same for a `GET` whose URL contains `key`.
    func failure(
        ofGetting url: String, within limit: Duration = .seconds(20), location: SourceLocation = #_sourceLocation
    ) async -> HTTPError.Kind? {
        await failure(of: HTTPRequest(url: "\(url)/v1/?key=\(key)"), within: limit, location: location)
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Makes gzip data without a library.
enum Gzip {
    private static let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

    /// Returns `bytes`, at most 65,535, in one stored block (RFC 1951, 3.2.4).
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let count = UInt16(bytes.count)
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return head + [1] + little(count) + little(~count) + bytes + little(~crc) + little(UInt32(bytes.count))
    }

    /// Returns data that decode to `count` times 258 zeros, in 13 bits each (RFC 1951, 3.2.6: length code 285, distance
    /// code 0).
    static func bomb(matches count: Int) -> [UInt8] {
        var (bytes, bits, width) = (head, UInt64(0), 0)
        func put(_ value: UInt64, _ bitCount: Int) {
            bits |= value << width
            width += bitCount
            while width >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                width -= 8
            }
        }

        put(0b011, 3)  // last block, fixed codes
        put(0b0000_1100, 8)  // the literal 0: code 00110000, first bit first
        for _ in 0..<count { put(0b00000_1010_0011, 13) }  // 11000101 and 00000, first bit first
        put(0, 7)  // end of block
        put(0, 8)
        return bytes + [0, 0, 0, 0] + little(UInt32(1 + 258 * count))
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<(Number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
