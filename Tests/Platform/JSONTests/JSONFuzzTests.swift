import Foundation
import TestSupport
import Testing

@testable import JSON

/// Random texts, the same in every run: compares the reader with another one, and its ways of reading with each other.
struct JSONFuzzTests {
    /// Set `LOCSEARCH_FUZZ_INPUTS` for more inputs.
    private static let inputs =
        ProcessInfo.processInfo.environment["LOCSEARCH_FUZZ_INPUTS"].flatMap { Int($0) } ?? 20_000

    /// Every second document is damaged, in up to three bytes. Most of the damage is in one place, far from the ends.
    @Test func `Reader agrees with foundation about what is JSON`() {
        var documents = RandomDocuments(seed: 1)
        var (accepted, refused) = (0, 0)
        for number in 0..<Self.inputs {
            var text = documents.document()
            if number % 2 == 0 { documents.damage(&text) }
            guard !Self.isReadDifferently(text) else { continue }
            let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: [.fragmentsAllowed])
            let ours = try? Whole(text)
            // Foundation rejects numbers that no Double can represent.
            if ours?.traits.hasHugeNumber != true {
                #expect((ours == nil) == (theirs == nil), "\(String(decoding: text, as: UTF8.self))")
            }
            if let ours, let theirs, !ours.traits.hasRepeatedKey {
                #expect(ours.value.isAlmost(Value(theirs)), "\(String(decoding: text, as: UTF8.self))")
            }
            if ours == nil { refused += 1 } else { accepted += 1 }
        }
        #expect(accepted > Self.inputs / 4 && refused > Self.inputs / 10)
    }

    /// Foundation's deviations from RFC 8259: it accepts a comma before the end of a container, and a byte
    /// of 0 makes it guess another encoding.
    private static func isReadDifferently(_ text: [UInt8]) -> Bool {
        let dense = text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        let comma = UInt8(ascii: ",")
        let ends = zip(dense, dense.dropFirst()).contains {
            $0 == comma && ($1 == UInt8(ascii: "]") || $1 == UInt8(ascii: "}"))
        }
        return ends || text.contains(0)
    }

    /// Skipping, pulling and searching for members find the same error at the same offset, or none.
    @Test func `Every way of reading gives the same result`() {
        var documents = RandomDocuments(seed: 2)
        for _ in 0..<Self.inputs {
            var text = documents.document()
            documents.damage(&text)
            let skipped = Self.error(text) { reader throws(JSONError) in try reader.skip() }
            let pulled = Self.error(text) { reader throws(JSONError) in _ = try Value(&reader) }
            let searched = Self.error(text) { reader throws(JSONError) in try Self.search(&reader) }
            // A string that is read may be at fault where a skipped one is not checked.
            if pulled?.isInText != true { #expect(pulled == skipped, "\(String(decoding: text, as: UTF8.self))") }
            #expect(searched == skipped, "\(String(decoding: text, as: UTF8.self))")
            for error in [skipped, pulled, searched].compactMap(\.self) {
                #expect((0...text.count).contains(error.offset))
            }
        }
    }

    private enum Member: String, CaseIterable { case a, key, long = "a longer key" }
    private static let members = JSONMembers<Member>()

    private static func search(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.kind() == .object, try reader.enterObject() else { return try reader.skip() }
        while try reader.nextMember(of: members) != nil { try search(&reader) }
    }

    private static func error(
        _ text: [UInt8], _ read: (inout JSONReader) throws(JSONError) -> Void
    ) -> JSONError? {
        do throws(JSONError) {
            var reader = JSONReader(text.span)
            try read(&reader)
            try reader.finish()
            return nil
        } catch {
            return error
        }
    }

    /// Texts of several alphabets, some with invalid bytes. The standard library decides which are UTF-8.
    @Test func `Appended texts that are not UTF8 are repaired as the standard library does`() throws {
        var random = SplitMix64(state: 4)
        let pieces: [[UInt8]] =
            ["a", "ramen and more", "鳥", "東京都中央区", "ガー", "ठ", "힣", "é", "🍜", "\u{800}", "\u{D7FF}", "\u{10FFFF}"]
            .map { Array($0.utf8) } + [
                [0x80], [0xC1, 0x80], [0xE0, 0x9F, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80],
            ]
        var (valid, invalid) = (0, 0)
        for _ in 0..<Self.inputs {
            let text = (0..<Int.random(in: 0..<12, using: &random)).flatMap { _ in
                // Two in a hundred are invalid.
                let last = Int.random(in: 0..<50, using: &random) == 0 ? pieces.count : 12
                return pieces[Int.random(in: 0..<last, using: &random)]
            }
            let rest = String(repeating: " ", count: Int.random(in: 0..<20, using: &random))
            let body = [UInt8(ascii: "\"")] + text + Array(("\"" + rest).utf8)

            var (appended, reader) = ([UInt8](), JSONReader(body.span))
            try reader.appendText(to: &appended)
            let isValid = String(validating: text, as: UTF8.self) != nil
            #expect(appended == Array(String(decoding: text, as: UTF8.self).utf8))
            if isValid { valid += 1 } else { invalid += 1 }
        }
        #expect(min(valid, invalid) > Self.inputs / 50)
    }

    /// Bytes of any kind, in buffers without room behind them.
    @Test func `Reading any bytes ends in an error or a value`() {
        var random = SplitMix64(state: 3)
        let grammar = Array(#"{}[]:,"\ntu0123456789eE+-. "#.utf8)
        for _ in 0..<Self.inputs {
            let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Int.random(in: 0..<8, using: &random) == 0
                    ? UInt8.random(in: .min ... .max, using: &random)
                    : grammar[Int.random(in: 0..<grammar.count, using: &random)]
            }
            let error = Self.error(text) { reader throws(JSONError) in _ = try Value(&reader) }
            #expect(error.map { (0...text.count).contains($0.offset) } ?? true)
        }
    }
}

/// A value read to its end, for comparing readers. Booleans are numbers, because Foundation does not distinguish them.
private indirect enum Value {
    case null, number(Double), text(String), list([Value]), object([String: Value])

    struct Traits {
        var hasRepeatedKey = false
        var hasHugeNumber = false
    }

    /// Foundation rounds numbers with many digits twice, so their last digit may differ.
    func isAlmost(_ other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.number(let a), .number(let b)): abs(a - b) <= 4e-16 * abs(a)
        case (.text(let a), .text(let b)): a.unicodeScalars.elementsEqual(b.unicodeScalars)
        case (.list(let a), .list(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.isAlmost($1) }
        case (.object(let a), .object(let b)):
            a.count == b.count && a.allSatisfy { key, value in b[key].map(value.isAlmost) ?? false }
        default: false
        }
    }

    /// - Parameter foundation: the result of `JSONSerialization`.
    init(_ foundation: Any) {
        switch foundation {
        case let text as String: self = .text(text)
        case let list as [Any]: self = .list(list.map { Value($0) })
        case let object as [String: Any]: self = .object(object.mapValues { Value($0) })
        case let number as NSNumber: self = .number(number.doubleValue)
        default: self = .null
        }
    }

    init(_ reader: inout JSONReader) throws(JSONError) {
        var traits = Traits()
        self = try Value.read(&reader, &traits)
    }

    static func read(_ reader: inout JSONReader, _ traits: inout Traits) throws(JSONError) -> Value {
        switch try reader.kind() {
        case .null:
            _ = try reader.skipNull()
            return .null
        case .boolean: return .number(try reader.bool() == true ? 1 : 0)
        case .number:
            let number = try reader.double()
            if number == nil { traits.hasHugeNumber = true }
            return .number(number ?? .infinity)
        case .string: return .text(try reader.string() ?? "")
        case .array:
            var list: [Value] = []
            guard try reader.enterArray() else { return .null }
            while try reader.nextElement() { list.append(try read(&reader, &traits)) }
            return .list(list)
        case .object:
            var object: [String: Value] = [:]
            guard try reader.enterObject() else { return .null }
            while let key = try reader.nextKey() {
                let name = try key.string()
                if object.updateValue(try read(&reader, &traits), forKey: name) != nil { traits.hasRepeatedKey = true }
            }
            return .object(object)
        }
    }
}

/// The value of a whole text.
private struct Whole {
    let value: Value
    let traits: Value.Traits

    init(_ text: [UInt8]) throws(JSONError) {
        var traits = Value.Traits()
        var reader = JSONReader(text.span)
        value = try Value.read(&reader, &traits)
        self.traits = traits
        try reader.finish()
    }
}
