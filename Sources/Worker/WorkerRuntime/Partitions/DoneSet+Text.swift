/// Encodes a done-set as a text of limited length, which brokers store with the committed offset.
///
/// There are two forms, and the shorter one is written. Both use the 64 characters of base64url, with six bits each,
/// because every client displays and copies those unchanged.
/// - `runs=` holds the lengths of alternating open and done runs, from the committed offset on. A length is written in
///   groups of five bits, the lowest first. The sixth bit of a character means that another group follows, as in source
///   maps.
/// - `bits=` holds one bit for each offset from the committed one on, set if the offset is done, the lowest bit first.
///
/// One slow request with 60,000 done offsets behind it takes 5 characters. A hundred random open ones among 10,000 take
/// about 290 characters as runs. If every other offset is done, 3,000 characters cover 18,000 offsets.
extension DoneSet {
    /// An encoded done-set.
    package struct Text: Sendable, Hashable {
        /// The form with its data, such as `runs=BgGk`; empty if there is nothing to write, or nothing fits.
        package var text = ""
        /// The offset after the last one that the text covers. Later done offsets did not fit. `nil`: all fitted.
        package var cut: Int64?
        /// In commit metadata: the bytes of this text.
        package var bytes = 0
        /// In commit metadata: the bytes that other fields use or that are reserved for them.
        package var others = 0
    }

    /// The largest accepted offset, so that lengths cannot overflow.
    private static let largestOffset: Int64 = 1 << 62
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let (runsPrefix, bitsPrefix) = ("runs=", "bits=")

    /// Encodes the set.
    /// - Parameters:
    ///   - base: the committed offset, at or before everything in the set.
    ///   - limit: the most characters. The offsets that do not fit are omitted, the largest first.
    package func text(from base: Int64, atMost limit: Int) -> Text {
        guard !isEmpty else { return Text() }
        let room = limit - Self.runsPrefix.utf8.count
        guard room > 0 else { return Text(cut: base) }

        let runs = encodedRuns(from: base, atMost: room)
        // The other form takes one character for six offsets, done or not.
        let bitsLength = ((end ?? base) - base + 5) / 6
        let isShorter = runs.cut == nil ? bitsLength < runs.text.utf8.count : true
        guard isShorter else { return Text(text: Self.runsPrefix + runs.text, cut: runs.cut) }

        let bits = encodedBits(from: base, atMost: room)
        let reachesFarther = bits.cut == nil || (runs.cut.map { (bits.cut ?? .max) > $0 } ?? false)
        return reachesFarther
            ? Text(text: Self.bitsPrefix + bits.text, cut: bits.cut)
            : Text(text: runs.text.isEmpty ? "" : Self.runsPrefix + runs.text, cut: runs.cut)
    }

    /// Decodes a set that `text` has encoded.
    /// - Returns: `nil` for any other text.
    package init?(text: some StringProtocol, from base: Int64) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, base >= 0 else { return nil }

        let values = parts[1].utf8.compactMap { Self.digits.firstIndex(of: $0).map { UInt8(clamping: $0) } }
        guard values.count == parts[1].utf8.count else { return nil }

        let isRead =
            switch parts[0] + "=" {
            case Self.runsPrefix: readRuns(values, from: base)
            case Self.bitsPrefix: readBits(values, from: base)
            default: false
            }
        guard isRead else { return nil }
    }

    // MARK: - Runs

    private func encodedRuns(from base: Int64, atMost limit: Int) -> Text {
        var (bytes, position): ([UInt8], Int64) = ([], base)
        for run in runs {
            let length = bytes.count
            Self.append(run.lowerBound - position, to: &bytes)
            Self.append(run.upperBound - run.lowerBound, to: &bytes)
            guard bytes.count <= limit else {
                return Text(text: String(decoding: bytes[..<length], as: UTF8.self), cut: position)
            }
            position = run.upperBound
        }
        return Text(text: String(decoding: bytes, as: UTF8.self))
    }

    private static func append(_ length: Int64, to bytes: inout [UInt8]) {
        var left = UInt64(clamping: length)
        repeat {
            let group = UInt8(truncatingIfNeeded: left & 31)
            left >>= 5
            bytes.append(digits[Int(left == 0 ? group : group | 32)])
        } while left != 0
    }

    private mutating func readRuns(_ values: [UInt8], from base: Int64) -> Bool {
        var (position, isDone, length, shift) = (base, false, UInt64(0), UInt64(0))
        for value in values {
            // bounded: 12 groups of five bits are below 2^60
            guard shift < 60 else { return false }
            length |= UInt64(value & 31) << shift
            shift += 5
            if value & 32 != 0 { continue }

            let (next, overflow) = position.addingReportingOverflow(Int64(clamping: length))
            guard !overflow, next <= Self.largestOffset, length > 0 || (!isDone && position == base) else {
                return false
            }
            if isDone { append(position..<next) }
            (position, isDone, length, shift) = (next, !isDone, 0, 0)
        }
        return shift == 0 && !isDone
    }

    // MARK: - Bits

    private func encodedBits(from base: Int64, atMost limit: Int) -> Text {
        var (bytes, bits, bit): ([UInt8], UInt8, UInt8) = ([], 0, 0)
        var position = base
        for run in runs {
            while position < run.upperBound {
                if run.contains(position) { bits |= 1 << bit }
                position += 1
                bit += 1
                guard bit == 6 else { continue }
                bytes.append(Self.digits[Int(bits)])
                (bits, bit) = (0, 0)
                if bytes.count == limit, position < end ?? position {
                    return Text(text: String(decoding: bytes, as: UTF8.self), cut: position)
                }
            }
        }

        if bit > 0 { bytes.append(Self.digits[Int(bits)]) }
        return Text(text: String(decoding: bytes, as: UTF8.self))
    }

    private mutating func readBits(_ values: [UInt8], from base: Int64) -> Bool {
        var position = base
        for value in values {
            for bit in 0..<6 as Range<UInt8> {
                let (next, overflow) = position.addingReportingOverflow(1)
                guard !overflow, next <= Self.largestOffset else { return false }
                if value & (1 << bit) != 0 { append(position..<next) }
                position = next
            }
        }
        return true
    }
}
