internal import CRdkafka
internal import EventLoop
internal import LibC

/// A pipe from librdkafka's queues to an event loop. A queue writes its number to the pipe when it stops being empty.
///
/// A number is lost if the pipe is full. The owner compensates by checking all queues regularly. Safe to use from any
/// thread.
final class QueueSignal: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(KafkaError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw KafkaError(
                .other,
                "pipe: \(String(cString: strerror(errno))); raise the limit on open files (ulimit -n, LimitNOFILE= of systemd)"
            )
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Makes `queue` write `number` from now on. Undo it with `disconnect` before this object is freed.
    func connect(_ queue: OpaquePointer, as number: UInt32) {
        var payload = number
        rd_kafka_queue_io_event_enable(queue, writeEnd, &payload, 4)  // copies the payload
    }

    /// Makes `queue` stop writing.
    func disconnect(_ queue: OpaquePointer) { rd_kafka_queue_io_event_enable(queue, -1, nil, 0) }

    /// Reads all numbers written so far.
    func drain() -> [UInt32] {
        var numbers: [UInt32] = []
        while true {
            let taken = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { buffer in
                // Writes of up to PIPE_BUF bytes are atomic, so numbers are never split.
                let count = read(readEnd, buffer.baseAddress, buffer.count * 4)
                guard count > 0 else { return 0 }
                numbers.append(contentsOf: buffer.prefix(count / 4))
                return count / 4
            }
            if taken < 256 { return numbers }
        }
    }
}
