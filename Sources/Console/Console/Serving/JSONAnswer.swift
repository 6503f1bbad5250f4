internal import Hummingbird
internal import JSON
internal import NIOCore

/// Answers with JSON.
enum JSONAnswer {
    static func response(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        var response = Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
        response.headers[.contentType] = "application/json; charset=utf-8"
        response.headers[.cacheControl] = "no-store"
        return response
    }
}

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

/// Reads JSON from a page.
enum JSONBody {
    /// Reads the members of an object; `null` has none. `read` must read or skip the value of each.
    /// - Throws: `invalid` if the bytes are no JSON.
    static func members(
        of bytes: [UInt8], _ read: (String, inout JSONReader) throws(JSONError) -> Void
    ) throws(ConsoleError) {
        do throws(JSONError) {
            var reader = JSONReader(bytes.span)
            if try reader.enterObject() {
                while let key = try reader.nextKey() { try read(try key.string(), &reader) }
            }
            try reader.finish()
        } catch {
            throw ConsoleError(.invalid, "the body is no JSON: \(error)")
        }
    }
}
