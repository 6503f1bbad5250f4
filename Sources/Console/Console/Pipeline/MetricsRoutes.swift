internal import HTTPServing
internal import Hummingbird
internal import NIOCore

/// Serves the console's metrics to collectors, which authenticate with the console's token like other programs.
struct MetricsRoutes {
    let backend: any ConsoleBackend

    func add(to router: Router<ClientContext>) {
        let backend = backend
        router.get("/metrics") { _, _ in
            var response = Response(
                status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: await backend.metrics())))
            response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
            response.headers[.cacheControl] = "no-store"
            return response
        }
    }
}
