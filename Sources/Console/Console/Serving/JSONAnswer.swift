internal import HTTPTypes
internal import HummingbirdCore
internal import JSON
internal import NIOCore

/// Answers with JSON.
enum JSONAnswer {
    static func response(_ json: [UInt8], status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
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

extension ConsoleError {
    /// The failure as an answer: `{"error":{"message":...,"member":...}}`.
    var response: Response {
        let json = JSONWriter.object(capacity: 256) { json in
            json.object("error") { json in
                json.member("message", message)
                json.member("member", member)
            }
        }

        var response = JSONAnswer.response(json, status: status)
        if case .tooEarly(let wait) = kind { response.headers[.retryAfter] = "\(wait.components.seconds + 1)" }
        if kind == .busy { response.headers[.retryAfter] = "2" }
        return response
    }

    private var status: HTTPResponse.Status {
        switch kind {
        case .invalid: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .tooEarly: .tooManyRequests
        case .changed: .conflict
        case .unavailable, .busy: .serviceUnavailable
        }
    }
}
