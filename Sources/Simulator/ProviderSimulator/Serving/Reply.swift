internal import NIOCore
internal import NIOHTTP1

/// An answer: status, headers, body, and its outcome for the statistics.
struct Reply {
    var status = 200
    var contentType: StaticString
    var headers: [(name: StaticString, value: String)] = []
    var body: ByteBuffer
    var outcome: String
    /// The name of the SKU that the provider bills for this answer; `nil` for errors, which are not billed.
    private(set) var sku: String?

    /// Returns the answer with its SKU.
    func billed(_ sku: String) -> Reply {
        var reply = self
        reply.sku = sku
        return reply
    }

    init(_ contentType: StaticString, body: ByteBuffer, status: Int = 200, outcome: String = "ok") {
        (self.contentType, self.body, self.status, self.outcome) = (contentType, body, status, outcome)
    }

    init(_ contentType: StaticString, body: String, status: Int = 200, outcome: String = "ok") {
        self.init(contentType, body: ByteBuffer(string: body), status: status, outcome: outcome)
    }

    static let html: StaticString = "text/html; charset=UTF-8"
    static let json: StaticString = "application/json; charset=UTF-8"
    /// The content type of Hot Pepper's JSON.
    static let javascript: StaticString = "text/javascript; charset=utf-8"
    static let xml: StaticString = "text/xml; charset=utf-8"
    static let svg: StaticString = "image/svg+xml"
    static let plain: StaticString = "text/plain; charset=utf-8"

    /// Returns an HTML page, as a front end sends it. A redirect status gets a `Location`.
    static func page(_ status: Int, title: String, retryAfter: Int? = nil) -> Reply {
        var reply = Reply(
            html,
            body: "<!DOCTYPE html>\n<html lang=\"en\"><head><title>\(status) \(title)</title></head>\n"
                + "<body><h1>\(status) \(title)</h1><p>The server cannot answer this request.</p></body></html>\n",
            status: status, outcome: "http-\(status)")

        reply.setRetryAfter(retryAfter)
        if (300...308).contains(status), status != 304 {
            reply.headers.append(("Location", "https://example.invalid/moved"))
        }
        return reply
    }

    /// Adds a `Retry-After` with this number of seconds, if there is one.
    mutating func setRetryAfter(_ seconds: Int?) {
        if let seconds { headers.append(("Retry-After", "\(seconds)")) }
    }

    /// Returns a redirect to a picture.
    static func redirect(to link: String) -> Reply {
        var reply = Reply(
            html, body: "<HTML><BODY><A HREF=\"\(link)\">The picture</A></BODY></HTML>\n", status: 302)
        reply.headers.append(("Location", link))
        return reply
    }

    /// Writes the status line and the headers.
    /// - Parameters:
    ///   - length: the length of the body; `nil`: the body is chunked.
    ///   - connection: the value of the `Connection` header; `nil`: no such header.
    func writeHead(to buffer: inout ByteBuffer, length: Int?, connection: StaticString?) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString("\(status)")
        buffer.writeStaticString(" ")
        buffer.writeString(status == 200 ? "OK" : HTTPResponseStatus(statusCode: status).reasonPhrase)

        buffer.writeStaticString("\r\nContent-Type: ")
        buffer.writeStaticString(contentType)
        for header in headers {
            buffer.writeStaticString("\r\n")
            buffer.writeStaticString(header.name)
            buffer.writeStaticString(": ")
            buffer.writeString(header.value)
        }

        if let length {
            buffer.writeStaticString("\r\nContent-Length: ")
            buffer.writeString("\(length)")
        } else {
            buffer.writeStaticString("\r\nTransfer-Encoding: chunked")
        }

        if let connection {
            buffer.writeStaticString("\r\nConnection: ")
            buffer.writeStaticString(connection)
        }

        buffer.writeStaticString("\r\n\r\n")
    }
}
