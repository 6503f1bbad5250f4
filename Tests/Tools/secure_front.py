#!/usr/bin/env python3
"""Puts TLS and SASL in front of a Kafka broker that has neither, for tests. Needs nothing but Python's own library.

    secure_front.py UPSTREAM_PORT [--cert FILE --key FILE [--client-ca FILE]] [--sasl]
                    [--handshake-from VERSION] [--without API ...] [--strict-nonce]

It listens on a free port of 127.0.0.1, prints {"port": ...} and, with --sasl, the port of a token endpoint for
OAUTHBEARER, and works until it is ended. Credentials are really checked: PLAIN and SCRAM by user and password,
OAUTHBEARER by the signature and the age of the token, a client's certificate by its authority. Users and the OIDC
client are in the environment variable FRONT_SECRETS as JSON: {"users": {"name": "password"}, "client": ["id",
"secret"]}.

--handshake-from and --without make it answer like a broker that no longer has a request, or an old version of one. With
--strict-nonce it compares SCRAM's nonce as a whole, as Kafka 4 does.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import secrets
import socket
import ssl
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

API_VERSIONS, METADATA, FIND_COORDINATOR, HANDSHAKE, AUTHENTICATE = 18, 3, 10, 17, 36
UNSUPPORTED_VERSION, UNSUPPORTED_MECHANISM, AUTHENTICATION_FAILED = 35, 33, 58
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS = ["PLAIN", *HASHES, "OAUTHBEARER"]


class Refused(Exception):
    """The client may not come in."""


# --- Frames: Kafka's requests and answers, each with its length in front ---


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def receive_frame(connection: socket.socket) -> bytes:
    size = struct.unpack(">i", receive_exactly(connection, 4))[0]
    if not 0 <= size < 100 << 20:  # Kafka's limit; the first bytes of another protocol look like far more.
        raise ConnectionError
    return receive_exactly(connection, size)


def send_frame(connection: socket.socket, frame: bytes) -> None:
    connection.sendall(struct.pack(">i", len(frame)) + frame)


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def body_of(request: bytes) -> bytes:
    """Returns what follows the header of a request with a version below its first flexible one."""
    length = max(0, struct.unpack_from(">h", request, 8)[0])
    return request[10 + length :]


# --- Login ---


class Scram:
    """The server's side of RFC 5802, without channel binding."""

    def __init__(self, mechanism: str, users: dict[str, str], is_strict: bool):
        self.mechanism, self.hash, self.users, self.is_strict = mechanism, HASHES[mechanism], users, is_strict
        self.first: str | None = None

    def answer(self, message: bytes) -> tuple[bytes, bool]:
        if self.first is None:
            self.first = message.decode().split(",", 2)[2]
            fields = dict(part.split("=", 1) for part in self.first.split(","))
            self.password = self.users.get(fields["n"].replace("=2C", ",").replace("=3D", "="))
            self.salt, self.nonce = secrets.token_bytes(16), fields["r"] + secrets.token_hex(12)
            self.challenge = f"r={self.nonce},s={base64.b64encode(self.salt).decode()},i=4096"
            return self.challenge.encode(), False

        without_proof, proof = message.decode().rsplit(",p=", 1)
        fields = dict(part.split("=", 1) for part in without_proof.split(","))
        # Before version 4, Kafka compares the end only, and librdkafka before 2.6.1 writes its own part twice.
        is_nonce = fields["r"] == self.nonce if self.is_strict else fields["r"].endswith(self.nonce)
        if self.password is None or not is_nonce:
            raise self.refusal
        salted = hashlib.pbkdf2_hmac(self.hash, self.password.encode(), self.salt, 4096)
        client_key, server_key = (hmac.digest(salted, name, self.hash) for name in (b"Client Key", b"Server Key"))
        signed = f"{self.first},{self.challenge},{without_proof}".encode()
        signature = hmac.digest(hashlib.new(self.hash, client_key).digest(), signed, self.hash)
        given = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature))
        if not hmac.compare_digest(given, client_key):
            raise self.refusal
        return b"v=" + base64.b64encode(hmac.digest(server_key, signed, self.hash)), True

    @property
    def refusal(self) -> Refused:
        """Kafka's words, which are the same whatever is wrong."""
        return Refused(f"invalid credentials with SASL mechanism {self.mechanism}")


class Plain:
    def __init__(self, users: dict[str, str]):
        self.users = users

    def answer(self, message: bytes) -> tuple[bytes, bool]:
        _, user, password = message.decode().split("\0")
        if not hmac.compare_digest(self.users.get(user, secrets.token_hex()).encode(), password.encode()):
            raise Refused("wrong user or password")
        return b"", True


class Tokens:
    """Issues signed tokens at an endpoint of its own, for whoever knows the client's secret, and checks them."""

    def __init__(self, client: list[str]):
        self.client, self.key = client, secrets.token_bytes(32)
        tokens = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
                given = base64.b64decode(self.headers.get("Authorization", "Basic ").split(" ", 1)[1]).decode()
                is_known = given == ":".join(tokens.client) and form.get("grant_type") == ["client_credentials"]
                answer = (
                    {"access_token": tokens.issue(), "token_type": "Bearer", "expires_in": 300}
                    if is_known
                    else {"error": "invalid_client", "error_description": "unknown client or wrong secret"}
                )
                body = json.dumps(answer).encode()
                self.send_response(200 if is_known else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def issue(self) -> str:
        now = int(time.time())
        parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": self.client[0], "iat": now, "exp": now + 300}]
        signed = b".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in parts)
        return (signed + b"." + self.signature(signed)).decode()

    def signature(self, signed: bytes) -> bytes:
        return base64.urlsafe_b64encode(hmac.digest(self.key, signed, "sha256")).rstrip(b"=")

    def answer(self, message: bytes) -> tuple[bytes, bool]:
        if b"auth=Bearer " not in message:
            raise Refused("no token")
        signed, signature = message.split(b"auth=Bearer ")[1].split(b"\x01")[0].rsplit(b".", 1)
        if not hmac.compare_digest(self.signature(signed), signature):
            raise Refused("not our token")
        payload = signed.split(b".")[1]
        if json.loads(base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))["exp"] < time.time():
            raise Refused("the token is over")
        return b"", True


# --- The front itself ---


class Front:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        known = json.loads(os.environ.get("FRONT_SECRETS", "{}"))
        self.users = known.get("users", {})
        self.tokens = Tokens(known["client"]) if options.sasl and "client" in known else None
        self.context = None
        if options.cert:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(options.cert, options.key)
            if options.client_ca:
                self.context.load_verify_locations(options.client_ca)
                self.context.verify_mode = ssl.CERT_REQUIRED
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]

    def run(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        upstream = None
        try:
            connection.settimeout(30)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            upstream = socket.create_connection(("127.0.0.1", self.options.upstream))
            self.let_in(connection, upstream)
            self.relay(connection, upstream)
        except (OSError, ValueError, KeyError, IndexError, Refused):
            pass  # A client that is refused sees its connection close, as with a real broker.
        finally:
            for end in (connection, upstream):
                if end:
                    end.close()

    def let_in(self, connection: socket.socket, upstream: socket.socket) -> None:
        """Returns once the client has logged in. Before that, it may only ask for the versions of requests."""
        login = None
        while self.options.sasl:
            request = receive_frame(connection)
            api, version, correlation = struct.unpack_from(">hhi", request)
            if api == API_VERSIONS:
                send_frame(connection, self.ask_versions(upstream, request, version))
            elif api == HANDSHAKE and version >= self.options.handshake_from:
                mechanism = body_of(request)[2:].decode()
                login = self.login(mechanism)
                offered = b"".join(text(m) for m in MECHANISMS)
                error = 0 if login else UNSUPPORTED_MECHANISM
                send_frame(connection, struct.pack(">ihi", correlation, error, len(MECHANISMS)) + offered)
            elif api == AUTHENTICATE and login:
                message = body_of(request)[4:]
                tail = struct.pack(">q", 0) if version >= 1 else b""
                try:
                    answer, is_done = login.answer(message)
                except Refused as refusal:
                    send_frame(
                        connection,
                        struct.pack(">ih", correlation, AUTHENTICATION_FAILED)
                        + text(f"Authentication failed during authentication due to {refusal}")
                        + struct.pack(">i", 0)
                        + tail,
                    )
                    raise
                send_frame(connection, struct.pack(">ihhi", correlation, 0, -1, len(answer)) + answer + tail)
                if is_done:
                    return
            else:
                raise Refused(f"request {api} before the login")

    def login(self, mechanism: str):
        if mechanism == "PLAIN":
            return Plain(self.users)
        if mechanism in HASHES:
            return Scram(mechanism, self.users, self.options.strict_nonce)
        return self.tokens if mechanism == "OAUTHBEARER" else None

    def relay(self, connection: socket.socket, upstream: socket.socket) -> None:
        """Passes requests and answers on. Brokers then have this front's port in place of their own."""
        asked: dict[int, tuple[int, int]] = {}
        connection.settimeout(None)

        def answers() -> None:
            try:
                while True:
                    frame = receive_frame(upstream)
                    api, version = asked.pop(struct.unpack_from(">i", frame)[0], (-1, 0))
                    if api in (METADATA, FIND_COORDINATOR):
                        frame = frame.replace(
                            b"127.0.0.1" + struct.pack(">i", self.options.upstream),
                            b"127.0.0.1" + struct.pack(">i", self.port),
                        )
                    if api == API_VERSIONS:
                        frame = self.versions(frame, version)
                    send_frame(connection, frame)
            except OSError:
                pass
            finally:
                # Ends the other direction too, which waits for the client.
                for end in (connection, upstream):
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

        back = threading.Thread(target=answers, daemon=True)
        back.start()
        try:
            while True:
                request = receive_frame(connection)
                api, version, correlation = struct.unpack_from(">hhi", request)
                asked[correlation] = (api, version)
                send_frame(upstream, request)
        finally:
            upstream.close()
            back.join(1)

    def ask_versions(self, upstream: socket.socket, request: bytes, version: int) -> bytes:
        send_frame(upstream, request)
        return self.versions(receive_frame(upstream), version)

    def versions(self, frame: bytes, version: int) -> bytes:
        """Adds the requests that a login takes, and leaves out what this front is told not to have."""
        if struct.unpack_from(">h", frame, 4)[0] == UNSUPPORTED_VERSION:
            return frame  # The client asks again with a lower version.
        added = [(HANDSHAKE, self.options.handshake_from, 1), (AUTHENTICATE, 0, 1)] if self.options.sasl else []

        is_flexible = version >= 3
        size = 7 if is_flexible else 6
        if is_flexible:
            count, start = frame[6] - 1, 7
            assert frame[6] < 0x80, "more requests than the short form of a length has room for"
        else:
            count, start = struct.unpack_from(">i", frame, 6)[0], 10
        entries = [struct.unpack_from(">hhh", frame, start + i * size) for i in range(count)]
        kept = [e for e in entries if e[0] not in (*self.options.without, HANDSHAKE, AUTHENTICATE)] + added

        head = bytes([len(kept) + 1]) if is_flexible else struct.pack(">i", len(kept))
        packed = b"".join(struct.pack(">hhh", *entry) + (b"\0" if is_flexible else b"") for entry in kept)
        return frame[:6] + head + packed + frame[start + count * size :]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("upstream", type=int)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--client-ca")
    parser.add_argument("--sasl", action="store_true")
    parser.add_argument("--handshake-from", type=int, default=0)
    parser.add_argument("--without", type=int, nargs="*", default=[])
    parser.add_argument("--strict-nonce", action="store_true")
    front = Front(parser.parse_args())
    token_port = front.tokens.server.server_address[1] if front.tokens else None
    print(json.dumps({"port": front.port, "tokenPort": token_port}), flush=True)
    front.run()


if __name__ == "__main__":
    main()
