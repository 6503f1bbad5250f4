import Foundation
import TestSupport
import Testing

@testable import JSON

/// Compares the reader with Python's JSON module: which inputs are JSON, and every value.
struct JSONOracleFuzzTests {
    @Test func `The reader agrees with Python about every document`() throws {
        let documents = Self.documents()
        let theirs = try Self.verdicts(on: documents)
        try #require(theirs.count == documents.count)

        var broken = 0
        for (document, verdict) in zip(documents, theirs) {
            #expect(Self.verdict(on: document) == verdict, "\(String(decoding: document, as: UTF8.self))")
            if verdict == "broken" { broken += 1 }
        }
        #expect(broken > documents.count / 8 && broken < documents.count / 2)
    }

    // MARK: Documents

    /// Random documents, every second of them damaged, and the fixed ones below.
    private static func documents() -> [[UInt8]] {
        var documents = edges + nested() + cut() + [[], [0xEF, 0xBB, 0xBF, 0x31], [0xEF, 0xBB, 0xBF], [0x31, 0]]
        var random = RandomDocuments(seed: 5, moreWords: edges.filter { verdict(on: $0) != "broken" })
        for number in 0..<SplitMix64.inputs(usually: 6_000) {
            var document = random.document()
            if number.isMultiple(of: 2) { random.damage(&document) }
            documents.append(document)
        }
        return documents
    }

    private static var edges: [[UInt8]] {
        let documents: [String] = numbers + texts + structures
        return documents.map { Array($0.utf8) } + invalidTexts
    }

    /// Numbers around 2^53 and 2^63, around the largest and the smallest double, and halfway between two doubles.
    private static let numbers: [String] = [
        "9007199254740992", "9007199254740993", "9007199254740993.0", "9.007199254740992e15",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "1844674407370955161", "1844674407370955162",
        "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "-1e309", "1e99999",
        "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "1e-99999",
        "0.1000000000000000055511151231257827021181583404541015625", "1e22", "1e23", "123456789e-22", "0e999", "-0.0",
        "0.30000000000000004", "10000000000000000000000000000000000000000", "20.000", "2E+1", "12345678", "123456789",
        "99999999.99999999", "00", "01", "-", "-a", "+1", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "1_0", "NaN",
        "Infinity", "-Infinity", "- 1", "1 2", "-01", "1.2.3", "1e5.5",
    ]

    /// Texts: escapes, halves of surrogate pairs, control characters.
    private static let texts: [String] = [
        #""\ud83c\udf5c""#, #""\ud83c""#, #""\udf5c""#, #""\udf5c\ud83c""#, #""\ud83cx""#, #""\ud83c\n""#,
        #""\ud83c\ud83c\udf5c""#, #""\uD83C\uDF5C""#, #""\u0000""#, #""\uffff""#, #""\u00e""#, #""\u00eg""#,
        #""\x41""#, #""\""#, #""\"#, #"""#, #""a"#, "\"\u{7F}\"", "\"\u{1F}\"", "\"\n\"", "\"\t\"", "\"\u{0}\"",
        "\"\u{2028}\"", "\"\u{FEFF}\"", "\u{A0}1", "\u{B}1", "\u{2003}1", "'a'",
    ]

    /// Members that occur twice, with and without escapes, and malformed containers.
    private static let structures: [String] = [
        #"{"a":1,"a":2,"\u0061":3}"#, #"{"":{"":[]}}"#, "{\"\\ud800\":1}", "{1:2}", "{a:1}", #"{"a"}"#, #"{"a":}"#,
        #"{"a":1,}"#, "[1,]", "[,1]", "[1 2]", "[1}", "{]", "]", "}", ",", ":", "[]]", "{}{}", "true false", "tru",
        "truee", "True", "nul", "null", "/* */1", "//1",
    ]

    /// Invalid UTF-8: truncated, overlong, surrogates, too large, and bytes that never occur.
    private static let invalidTexts: [[UInt8]] = [
        [0x22, 0xE3, 0x81, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xE0, 0x80, 0x80, 0x22],
        [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0xBC, 0xED, 0xBD, 0x9C, 0x22],
        [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], [0x22, 0xFF, 0x22],
        [0x22, 0x80, 0x22], [0x22, 0xC3, 0x5C, 0x22, 0x22], [0x22, 0xF0, 0x9F, 0x8D, 0x9C, 0x22], [0x22, 0xE3, 0x81],
    ]

    /// Nesting around the allowed depth, and far beyond it.
    private static func nested() -> [[UInt8]] {
        var documents: [String] = []
        for depth in [1, 63, 64, 65, 66, 400, 20_000] {
            let open = String(repeating: "[", count: depth)
            let close = String(repeating: "]", count: depth)
            let key = String(repeating: #"{"a":"#, count: depth)
            let brace = String(repeating: "}", count: depth)
            documents += [open + close, open + "1" + close, open, key + "1" + brace, key + "{}" + brace, key]
        }
        return documents.map { Array($0.utf8) }
    }

    /// One document with all kinds of values, truncated at each byte.
    private static func cut() -> [[UInt8]] {
        let numbers = #" {"a b":[-12.50e+3,true,false,null,{}],"#
        let texts = #""long key of it":{"x":[[],"y"],"":"\u3042\ud83c\udf5c ラーメン\\"}} "#
        let whole = Array((numbers + texts).utf8)
        return (0...whole.count).map { Array(whole.prefix($0)) }
    }

    // MARK: Verdicts

    /// Lets `Tests/Tools/json_oracle.py` read the documents.
    private static func verdicts(on documents: [[UInt8]]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "json-oracle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        // Files and not pipes, because one pipe would have to be read while the other is written.
        let (input, output) = (folder.appending(path: "documents"), folder.appending(path: "verdicts"))
        var framed: [UInt8] = []
        for document in documents {
            framed += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: document.count >> $0) } + document
        }
        try Data(framed).write(to: input)
        try Data().write(to: output)

        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", tool.path]
        python.standardInput = try FileHandle(forReadingFrom: input)
        python.standardOutput = try FileHandle(forWritingTo: output)
        try python.run()
        python.waitUntilExit()
        try #require(python.terminationStatus == 0, "python3 is missing or failed: run `tools/setup tests`")
        return String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let tool = Repository.folder.appending(path: "Tests/Tools/json_oracle.py")

    /// Returns our reader's verdict in the same format.
    private static func verdict(on document: [UInt8]) -> String {
        do throws(JSONError) {
            var reader = JSONReader(document.span)
            let value = try value(&reader)
            try reader.finish()
            return value
        } catch {
            return "broken"
        }
    }

    /// Reads a value, and formats it as the script does.
    private static func value(_ reader: inout JSONReader) throws(JSONError) -> String {
        switch try reader.kind() {
        case .null:
            try reader.skip()
            return "n"
        case .boolean: return try reader.bool() == true ? "t" : "f"
        case .number: return try number(&reader)
        case .string: return try text { () throws(JSONError) in try reader.string() }
        case .array:
            var items = "["
            _ = try reader.enterArray()
            while try reader.nextElement() { items += try value(&reader) }
            return items + "]"
        case .object:
            var members = "{"
            _ = try reader.enterObject()
            while let key = try reader.nextKey() {
                members += try text { () throws(JSONError) in try key.string() }
                members += try value(&reader)
            }
            return members + "}"
        }
    }

    private static func number(_ reader: inout JSONReader) throws(JSONError) -> String {
        // Separate readers parse the number as a double and as an integer.
        let range = try reader.skippedRange()
        let text = reader.bytes(in: range)
        var (doubles, integers) = (JSONReader(text), JSONReader(text))
        guard let double = try doubles.double() else { return "d" }

        let bits = String(double.bitPattern, radix: 16)
        let whole = try integers.int().map { ":\($0)" } ?? ""
        return "d" + String(repeating: "0", count: 16 - bits.count) + bits + whole
    }

    private static func text(_ read: () throws(JSONError) -> String?) throws(JSONError) -> String {
        do throws(JSONError) {
            guard let text = try read() else { return "?" }
            return "s" + text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        } catch {
            guard error.isInText else { throw error }
            return "x"
        }
    }
}
