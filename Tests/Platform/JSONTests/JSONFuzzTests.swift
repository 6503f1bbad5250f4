import TestSupport
import Testing

@testable import JSON

/// Random texts, the same in every run: compares the ways of reading with each other.
struct JSONFuzzTests {
    private static let inputs = SplitMix64.inputs(usually: 20_000)

    /// Skipping, pulling and searching for members find the same error at the same offset, or none.
    @Test func `Every way of reading finds the same error or none`() {
        var documents = RandomDocuments(seed: 2)
        for _ in 0..<Self.inputs {
            var text = documents.document()
            documents.damage(&text)
            let skipped = Self.error(text) { reader throws(JSONError) in try reader.skip() }
            let pulled = Self.error(text) { reader throws(JSONError) in try Self.pull(&reader) }
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

    /// Reads a value to its end.
    private static func pull(_ reader: inout JSONReader) throws(JSONError) {
        switch try reader.kind() {
        case .null: _ = try reader.skipNull()
        case .boolean: _ = try reader.bool()
        case .number: _ = try reader.double()
        case .string: _ = try reader.string()
        case .array:
            guard try reader.enterArray() else { return }
            while try reader.nextElement() { try pull(&reader) }
        case .object:
            guard try reader.enterObject() else { return }
            while let key = try reader.nextKey() {
                _ = try key.string()
                try pull(&reader)
            }
        }
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
            let error = Self.error(text) { reader throws(JSONError) in try Self.pull(&reader) }
            #expect(error.map { (0...text.count).contains($0.offset) } ?? true)
        }
    }
}
