/// A done-set as a text of limited length, which brokers keep beside the committed offset.
///
/// There are two forms, and the shorter one is written. Both use the 64 characters of base64url, six bits each, because every
/// client shows and copies those as they are.
/// - `runs=` holds the lengths of open and done runs in turn, from the committed offset on. A length is written in groups of five
///   bits, the lowest first; the sixth bit of a character says that another group follows. (Source maps write numbers so.)
/// - `bits=` holds one bit for each offset from the committed one on, set where it is done, the lowest bit first.
///
/// One slow request with 60,000 done behind it takes 5 characters. A hundred open ones among 10,000, at random, take some 290 as
/// runs. Where every other offset is done, 3,000 characters reach 18,000 offsets far.
extension DoneSet {
    /// A done-set that was written.
    package struct Text: Sendable, Hashable {
        /// The form with its data, such as `runs=BgGk`; empty where nothing is to be written, or nothing fits.
        package var text = ""
        /// One past the last offset that the text tells anything of. What is done from here on did not fit; `nil`: all did.
        package var cut: Int64?
        /// Beside an offset: the bytes that the form takes.
        package var bytes = 0
        /// Beside an offset: the bytes that other fields take, or that are kept for them.
        package var others = 0
    }

    /// No offset is larger, whatever a text says, so that the length of a set can be counted.
    private static let largestOffset: Int64 = 1 << 62
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let (runsPrefix, bitsPrefix) = ("runs=", "bits=")

    /// Writes the set.
    /// - Parameters:
    ///   - base: The committed offset, at or before everything in the set.
    ///   - limit: The most characters. What does not fit is left out, the farthest first.
    package func text(from base: Int64, atMost limit: Int) -> Text {
        guard !isEmpty else { return Text() }
        let room = limit - Self.runsPrefix.utf8.count
        guard room > 0 else { return Text(cut: base) }

        let runs = encodedRuns(from: base, atMost: room)
        // The other form takes a character for six offsets, done or not.
        let bitsLength = ((end ?? base) - base + 5) / 6
        let isShorter = runs.cut == nil ? bitsLength < runs.text.utf8.count : true
        guard isShorter else { return Text(text: Self.runsPrefix + runs.text, cut: runs.cut) }

        let bits = encodedBits(from: base, atMost: room)
        let reachesFarther = bits.cut == nil || (runs.cut.map { (bits.cut ?? .max) > $0 } ?? false)
        return reachesFarther
            ? Text(text: Self.bitsPrefix + bits.text, cut: bits.cut)
            : Text(text: runs.text.isEmpty ? "" : Self.runsPrefix + runs.text, cut: runs.cut)
    }

    /// Reads a set that `text` has written.
    /// - Returns: `nil` for anything else.
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
