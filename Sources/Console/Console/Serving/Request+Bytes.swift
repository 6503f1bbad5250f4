internal import Hummingbird
internal import NIOCore

extension Request {
    /// Returns the body.
    /// - Throws: `ConsoleError.invalid` if it is too large or incomplete.
    func bytes(upTo limit: Int) async throws(ConsoleError) -> [UInt8] {
        do {
            return Array(try await body.collect(upTo: limit).readableBytesView)
        } catch {
            throw ConsoleError(.invalid, "the body has more than \(limit) bytes, or broke off")
        }
    }
}

/// Answers with JSON.
enum JSONAnswer {
    static func response(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        var response = Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        response.headers[.contentType] = "application/json; charset=utf-8"
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
