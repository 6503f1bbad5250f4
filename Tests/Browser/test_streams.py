"""200 pages at once: one that does not read slows none of the others. Plain sockets, no browser."""

import selectors
import socket
import time

from browser import fresh_session

PAGES = 200
CONNECT_SECONDS = 30
"""The longest time until all pages have what was sent. The machine is shared, so this is no measure of speed."""
SECONDS = 30


def open_stream(console, path: str, receive_buffer: int | None = None) -> socket.socket:
    stream = socket.socket()
    if receive_buffer:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    stream.connect(("127.0.0.1", console.port))
    stream.sendall(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{console.port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    )
    return stream


def read_until(streams: list[socket.socket], text: bytes, within: float) -> int:
    """Reads all streams until each has had `text`, and returns how many had it in time."""
    seen = dict.fromkeys(streams, b"")
    waiting = set(streams)
    end = time.monotonic() + within
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ, data=stream)
        while waiting and time.monotonic() < end:
            for key, _ in selector.select(0.1):
                stream = key.data
                seen[stream] = (seen[stream] + stream.recv(1 << 16))[-(1 << 17) :]
                if text in seen[stream]:
                    waiting.discard(stream)
    return len(streams) - len(waiting)


def test_page_that_does_not_read_slows_none_of_200_others(console):
    session = fresh_session()
    late = open_stream(console, "/api/traffic/events", receive_buffer=2048)
    pages = [open_stream(console, f"/api/sessions/{session}/events") for _ in range(PAGES // 2)]
    pages += [open_stream(console, "/api/traffic/events") for _ in range(PAGES - len(pages))]
    try:
        assert read_until(pages, b"event: ", CONNECT_SECONDS) == PAGES

        # Enough that the page that does not read is far behind.
        for _ in range(60):
            console.send(fresh_session(), provider="hotpepper", limit=100, radiusMeters=3000)
        request = console.send(session, provider="hotpepper")
        assert read_until(pages, request.encode(), SECONDS) == PAGES
    finally:
        for stream in [late, *pages]:
            stream.close()
