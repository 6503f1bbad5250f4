import LocationSearch
import Testing

@testable import EventContract

/// Damaged requests, the same in every run: each must be a valid request or one rejection that names a member.
struct HostileRecordTests {
    #if DEBUG
        private static let rounds = 4000
    #else
        private static let rounds = 100_000
    #endif

    @Test(arguments: Envelope.allCases)
    func everyRecordIsARequestOrOneRejection(envelope: Envelope) {
        var random = Damage(seed: UInt64(Envelope.allCases.firstIndex(of: envelope) ?? 0) + 1)
        var (accepted, wrong) = (0, [[UInt8]]())
        for _ in 0..<Self.rounds {
            var record = Records.record(random.body(), in: envelope)
            random.damage(&record)
            do throws(RejectedRecord) {
                let request = try Records.decode(record).request
                accepted += 1
                if (try? request.validated()) != request { wrong.append(record.value ?? []) }
            } catch {
                let isComplete =
                    error.error.code == .invalidRequest && error.error.member?.isEmpty == false
                    && (1...128).contains(error.requestID.unicodeScalars.count) && error.error.message.utf8.count < 300
                if !isComplete { wrong.append(record.value ?? []) }
                Self.checkOutcome(of: error, &wrong)
            }
        }
        #expect(wrong.isEmpty)
        // Both ways are taken: else the damage is too small or too great to tell anything.
        #expect((Self.rounds / 50...Self.rounds * 49 / 50).contains(accepted))
    }

    /// The error event of whatever was read is itself readable.
    private static func checkOutcome(of rejected: RejectedRecord, _ wrong: inout [[UInt8]]) {
        var encoder = OutcomeEncoder(seed: 1)
        let encoded = encoder.encode(rejected, receivedAt: Outcomes.receivedAt, completedAt: Outcomes.completedAt)
        let event = try? OutcomeReader().read(value: encoded.value, headers: encoded.headers)
        if event?.requestID != rejected.requestID { wrong.append(encoded.value) }
    }
}

/// Damages records; which way is told by a seed.
private struct Damage {
    private var random: SpanIDs
    private static let bodies = [
        Array(#"{"requestId":"r-1","location":{"latitude":35.69,"longitude":139.7},"limit":20,"openNow":true}"#.utf8),
        Array(Records.search(with: #""keyword":"ラーメン\n\ud83c\udf5c","timeoutMs":5e3,"sessionId":null,"x":[{}]"#).utf8),
        Array(#" { "operation" : "details" , "placeId" : "J001" , "provider":"hotpepper" } "#.utf8),
    ]
    private static let pieces = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "1e999", "NaN", "-", "\\ud800", "\u{0}", "\"limit\":", "é",
        "0", "9",
    ].map { Array($0.utf8) }

    init(seed: UInt64) { random = SpanIDs(seed: seed) }

    private mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }

    mutating func body() -> [UInt8] { Self.bodies[number(below: Self.bodies.count)] }

    mutating func damage(_ record: inout IncomingRecord) {
        for _ in 0..<number(below: 4) { damage(&record.value) }
        guard number(below: 4) == 0, !record.headers.isEmpty else { return }
        let index = number(below: record.headers.count)
        switch number(below: 4) {
        case 0: record.headers.remove(at: index)
        case 1: record.headers.append(record.headers[index])
        case 2: record.headers[index].name += "x"
        default: damage(&record.headers[index].value)
        }
    }

    private mutating func damage(_ bytes: inout [UInt8]?) {
        guard var changed = bytes, !changed.isEmpty else { return }
        let index = number(below: changed.count)
        switch number(below: 6) {
        case 0: changed[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: changed.remove(at: index)
        case 2: changed.insert(contentsOf: Self.pieces[number(below: Self.pieces.count)], at: index)
        case 3: changed.removeLast(changed.count - index)
        case 4: changed.insert(contentsOf: changed[index..<min(index + number(below: 20), changed.count)], at: index)
        default: changed[index] ^= 1 << UInt8(number(below: 8))
        }
        bytes = changed
    }
}
