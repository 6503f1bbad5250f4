import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import HTTPServing

struct RouterTests {
    /// Routes that answer with what they were given.
    private static let responder: Responder = {
        let router = Router()
        router.get("/") { _, _ in text("start") }
        router.get("/letters/:partition/:offset") { _, context in
            text("letter \(context.parameter("partition", as: Int32.self) ?? -1)")
        }
        router.get("/letters/redrives/:id") { _, context in
            text("redrive \(context.parameter("id", as: String.self) ?? "")")
        }
        router.post("/letters/judge/now") { _, _ in text("judged") }
        return router.responder
    }()

    private static func text(_ text: String) -> Response {
        Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Returns the status, the length of the body, and the header `Allow`.
    private func ask(
        _ method: HTTPRequest.Method, _ path: String
    ) async throws -> (status: Int, body: Int?, allowed: String?) {
        let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let response = try await Self.responder(request, ClientContext(clientAddress: nil))
        return (response.status.code, response.body.contentLength, response.headers[.allow])
    }

    @Test(arguments: [
        ("/", "start"), ("", "start"), ("/letters/3/17", "letter 3"), ("/letters/x/17", "letter -1"),
        ("/letters/redrives/a%2Fb", "redrive a%2Fb"), ("/letters//redrives/1/?id=2", "redrive 1"),
    ])
    func `A path finds its route, those without parameters first`(path: String, text: String) async throws {
        let answer = try await ask(.get, path)
        #expect(answer.status == 200 && answer.body == text.utf8.count)
    }

    @Test func `HEAD has the routes of GET`() async throws {
        #expect(try await ask(.head, "/letters/3/17").status == 200)
    }

    @Test func `A method that a path does not have is refused with those that it has`() async throws {
        let answer = try await ask(.post, "/letters/3/17")
        #expect(answer.status == 405 && answer.allowed == "GET, HEAD")
        #expect(try await ask(.get, "/letters/judge/now").allowed == "POST")
    }

    @Test(arguments: ["/letter", "/letters", "/letters/3/17/1"])
    func `Any other path is unknown`(path: String) async {
        await #expect(throws: UnknownPath.self) { _ = try await ask(.get, path) }
    }
}
