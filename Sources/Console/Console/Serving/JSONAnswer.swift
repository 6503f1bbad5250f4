internal import Hummingbird
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
