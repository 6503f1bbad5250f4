"""Kafka's protocol, as far as the conformance script needs it: requests as bytes, answers as dictionaries.

One version of each request is spoken, the newest without compact encoding that Kafka 3 and 4 and librdkafka's mock
cluster share, and a newer one where only that can say what is asked.
"""

import itertools
import socket
import struct

# The names of error codes: those that the script may meet. Others are shown by their number.
ERRORS = {
    -1: "UNKNOWN_SERVER_ERROR",
    0: "NONE",
    1: "OFFSET_OUT_OF_RANGE",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    7: "REQUEST_TIMED_OUT",
    10: "MESSAGE_TOO_LARGE",
    12: "OFFSET_METADATA_TOO_LARGE",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    17: "INVALID_TOPIC_EXCEPTION",
    19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    22: "ILLEGAL_GENERATION",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    24: "INVALID_GROUP_ID",
    25: "UNKNOWN_MEMBER_ID",
    26: "INVALID_SESSION_TIMEOUT",
    27: "REBALANCE_IN_PROGRESS",
    29: "TOPIC_AUTHORIZATION_FAILED",
    30: "GROUP_AUTHORIZATION_FAILED",
    32: "INVALID_TIMESTAMP",
    35: "UNSUPPORTED_VERSION",
    36: "TOPIC_ALREADY_EXISTS",
    37: "INVALID_PARTITIONS",
    38: "INVALID_REPLICATION_FACTOR",
    42: "INVALID_REQUEST",
    45: "OUT_OF_ORDER_SEQUENCE_NUMBER",
    46: "DUPLICATE_SEQUENCE_NUMBER",
    47: "INVALID_PRODUCER_EPOCH",
    48: "INVALID_TXN_STATE",
    49: "INVALID_PRODUCER_ID_MAPPING",
    50: "INVALID_TRANSACTION_TIMEOUT",
    51: "CONCURRENT_TRANSACTIONS",
    55: "OPERATION_NOT_ATTEMPTED",
    59: "UNKNOWN_PRODUCER_ID",
    69: "GROUP_ID_NOT_FOUND",
    74: "FENCED_LEADER_EPOCH",
    75: "UNKNOWN_LEADER_EPOCH",
    79: "MEMBER_ID_REQUIRED",
    81: "GROUP_MAX_SIZE_REACHED",
    82: "FENCED_INSTANCE_ID",
    87: "INVALID_RECORD",
    88: "UNSTABLE_OFFSET_COMMIT",
    90: "PRODUCER_FENCED",
    100: "UNKNOWN_TOPIC_ID",
    110: "FENCED_MEMBER_EPOCH",
    111: "UNRELEASED_INSTANCE_ID",
    112: "UNSUPPORTED_ASSIGNOR",
    113: "STALE_MEMBER_EPOCH",
    120: "TRANSACTION_ABORTABLE",
}


def error_name(code: int) -> str:
    return ERRORS.get(code, f"error {code}")


class Writer:
    """Bytes of a request. `flexible` chooses compact texts and lists, each structure followed by its tags (none)."""

    def __init__(self, flexible: bool = False):
        self.flexible = flexible
        self.parts: list[bytes] = []

    def number(self, form: str, value: int) -> "Writer":
        self.parts.append(struct.pack(">" + form, value))
        return self

    def i8(self, value: int) -> "Writer":
        return self.number("b", value)

    def i16(self, value: int) -> "Writer":
        return self.number("h", value)

    def i32(self, value: int) -> "Writer":
        return self.number("i", value)

    def i64(self, value: int) -> "Writer":
        return self.number("q", value)

    def raw(self, value: bytes) -> "Writer":
        self.parts.append(value)
        return self

    def unsigned(self, value: int) -> "Writer":
        while value > 127:
            self.parts.append(bytes([value & 127 | 128]))
            value >>= 7
        self.parts.append(bytes([value]))
        return self

    def signed(self, value: int) -> "Writer":
        return self.unsigned(value << 1 if value >= 0 else (-value << 1) - 1)

    def text(self, value: str | None) -> "Writer":
        data = None if value is None else value.encode()
        if self.flexible:
            self.unsigned(0 if data is None else len(data) + 1)
        else:
            self.i16(-1 if data is None else len(data))
        return self.raw(data or b"")

    def blob(self, value: bytes) -> "Writer":
        self.unsigned(len(value) + 1) if self.flexible else self.i32(len(value))
        return self.raw(value)

    def list(self, values: list | None, write) -> "Writer":
        if self.flexible:
            self.unsigned(0 if values is None else len(values) + 1)
        else:
            self.i32(-1 if values is None else len(values))
        for value in values or []:
            write(value)
        return self

    def tags(self) -> "Writer":
        return self.unsigned(0) if self.flexible else self

    @property
    def bytes(self) -> bytes:
        return b"".join(self.parts)


class Reader:
    """Reads what Writer writes."""

    def __init__(self, data: bytes, flexible: bool = False):
        self.data, self.at, self.flexible = data, 0, flexible

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += size
        return value

    def i8(self) -> int:
        return self.number("b")

    def i16(self) -> int:
        return self.number("h")

    def i32(self) -> int:
        return self.number("i")

    def i64(self) -> int:
        return self.number("q")

    def raw(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise ValueError(f"{size} bytes are announced and {len(self.data) - self.at} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        value = self.unsigned()
        return value >> 1 ^ -(value & 1)

    def text(self) -> str | None:
        size = self.unsigned() - 1 if self.flexible else self.i16()
        return None if size < 0 else self.raw(size).decode()

    def blob(self) -> bytes | None:
        size = self.unsigned() - 1 if self.flexible else self.i32()
        return None if size < 0 else self.raw(size)

    def list(self, read) -> list | None:
        size = self.unsigned() - 1 if self.flexible else self.i32()
        return None if size < 0 else [read() for _ in range(size)]

    def tags(self) -> None:
        for _ in range(self.unsigned() if self.flexible else 0):
            self.unsigned()
            self.raw(self.unsigned())


class Connection:
    """One connection to one broker: a request, then its answer."""

    def __init__(self, host: str, port: int, timeout: float = 90):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.numbers = itertools.count(1)

    def close(self) -> None:
        self.socket.close()

    def ask(self, api: int, version: int, body: bytes, flexible: bool = False) -> Reader:
        number = next(self.numbers)
        head = Writer().i16(api).i16(version).i32(number).text("conformance").bytes + (b"\0" if flexible else b"")
        self.socket.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        reader = Reader(self._read(struct.unpack(">i", self._read(4))[0]), flexible)
        if reader.i32() != number:
            raise ValueError("the broker answers another request")
        reader.tags()
        return reader

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("the broker has closed the connection")
            data += more
        return data


# Record batches


def _checksum_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CHECKSUMS = _checksum_table()


def crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _CHECKSUMS[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def write_batch(
    values: list[bytes],
    milliseconds: int,
    producer: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> bytes:
    records = Writer()
    for index, value in enumerate(values):
        record = Writer().i8(0).signed(0).signed(index).signed(-1).signed(len(value)).raw(value).signed(0).bytes
        records.signed(len(record)).raw(record)
    body = (
        Writer()
        .i16(16 if transactional else 0)
        .i32(len(values) - 1)
        .i64(milliseconds)
        .i64(milliseconds)
        .i64(producer)
        .i16(epoch)
        .i32(sequence)
        .i32(len(values))
        .raw(records.bytes)
        .bytes
    )
    tail = Writer().i32(-1).i8(2).number("I", crc32c(body)).raw(body).bytes
    return Writer().i64(0).i32(len(tail)).raw(tail).bytes


def read_batches(data: bytes):
    """Yields offset, value, producer's id, whether it is transactional and whether it is a marker, for each record."""
    reader = Reader(data)
    while reader.at + 61 <= len(data):
        first, size = reader.i64(), reader.i32()
        if reader.at + size > len(data):
            return  # The rest was cut off.
        end = reader.at + size
        reader.raw(9)
        attributes = reader.i16()
        if attributes & 7:
            raise ValueError("the script reads no compressed records")
        reader.raw(20)
        producer = reader.i64()
        reader.raw(6)
        for _ in range(reader.i32()):
            reader.signed()
            reader.i8()
            reader.signed()
            offset = first + reader.signed()
            _key, value = (reader.raw(size) if (size := reader.signed()) >= 0 else None for _ in range(2))
            for _ in range(reader.signed()):
                reader.raw(reader.signed())
                if (length := reader.signed()) > 0:
                    reader.raw(length)
            yield offset, value, producer, bool(attributes & 16), bool(attributes & 32)
        reader.at = end
