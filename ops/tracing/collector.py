"""A trace collector for the check: takes OTLP over HTTP, reads it with OpenTelemetry's own package, and misbehaves when
told to.
"""

import gzip
import http.server
import threading
import time

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def value(any_value):
    """Returns the Python value of an attribute."""
    kind = any_value.WhichOneof("value")
    content = getattr(any_value, kind)
    return [value(v) for v in content.values] if kind == "array_value" else content


class Span:
    """A span as the collector got it."""

    def __init__(self, span, resource, scope):
        self.trace, self.id, self.parent = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
        self.name, self.kind, self.state, self.flags = span.name, span.kind, span.trace_state, span.flags
        self.start, self.end = span.start_time_unix_nano, span.end_time_unix_nano
        self.attributes = {a.key: value(a.value) for a in span.attributes}
        self.status, self.message = span.status.code, span.status.message
        self.resource = {a.key: value(a.value) for a in resource.attributes}
        self.scope = scope.name

    def __repr__(self):
        return f"{self.name} {self.attributes}"


class Collector:
    """Listens on 127.0.0.1. `mode` is ok, 503 or hang; `close` makes it a collector that is away."""

    def __init__(self, port: int = 0):
        self.mode = "ok"
        self.bodies: list[bytes] = []
        self.headers: list = []
        self.spans: list = []
        self.changed = threading.Condition()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                with collector.changed:
                    collector.bodies.append(body)
                    collector.headers.append((self.path, dict(self.headers)))
                    mode = collector.mode
                    if mode == "ok":
                        collector.take(body)
                    collector.changed.notify_all()
                if mode == "hang":
                    time.sleep(60)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(503 if mode == "503" else 200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """Those who hang up on a collector that hangs are expected."""

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.spans += [Span(span, resource.resource, scope.scope) for span in scope.spans]

    def trace(self, trace: str) -> list[Span]:
        with self.changed:
            return [span for span in self.spans if span.trace == trace]

    def wait_for(self, trace: str, count: int, within: float = 30) -> list[Span]:
        """Returns the spans of a trace once there are so many."""
        end = time.monotonic() + within
        with self.changed:
            while len(found := [s for s in self.spans if s.trace == trace]) < count:
                if not self.changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"trace {trace} has {found} after {within} s, not {count} spans")
            return found

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
