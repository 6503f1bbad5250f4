import TestSupport
import Testing

@testable import JSON

struct JSONWriterTests {
    private func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 0)
        write(&writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    @Test func `The writer puts the commas`() {
        let json = text { writer in
            writer.beginObject()
            writer.member("a", 1)
            writer.key("b")
            writer.beginArray()
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.endObject()
            writer.value("x")
            writer.null()
            writer.value(false)
            writer.endArray()
            writer.key("dynamic \"key\"" as String)
            writer.value(json: Array("[1, 2]".utf8).span)
            writer.member("c", true)
            writer.member("d", ["p", "q"])
            writer.endObject()
        }
        #expect(json == #"{"a":1,"b":[[],{},"x",null,false],"dynamic \"key\"":[1, 2],"c":true,"d":["p","q"]}"#)
    }

    /// At any position in the blocks that are copied at once.
    @Test func `The writer escapes a character at every place of a text`() throws {
        for length in 1...40 {
            for place in 0..<length {
                for byte in Array(0..<0x24) + [0x5B, 0x5C, 0x5D, 0x7F] as [UInt8] {
                    var bytes = Array(repeating: UInt8(ascii: "x"), count: length)
                    bytes[place] = byte
                    let json = text { $0.value(utf8: bytes.span) }
                    let isClean = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                    #expect(isClean == (json.utf8.count == length + 2))
                    let written = Array(json.utf8)
                    var reader = JSONReader(written.span)
                    let back = try reader.string()
                    #expect(back.map { Array($0.utf8) } == bytes, "\(length) \(place) \(byte)")
                }
            }
        }
    }

    @Test func `The writer leaves out members that are nil`() {
        let json = text { writer in
            writer.beginObject()
            writer.member("a", nil as String?)
            writer.member("b", nil as Int?)
            writer.member("c", nil as Double?)
            writer.member("d", nil as Bool?)
            writer.member("e", [])
            writer.member("f", Double.nan)
            writer.member("g", 0)
            writer.endObject()
        }
        #expect(json == #"{"g":0}"#)
    }

    static let numbers: [(Double, String)] = [
        (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (35.690921, "35.690921"), (-139.7, "-139.7"), (4.1, "4.1"),
        (1500, "1500"), (1e-7, "0.0000001"), (1.5e-7, "0.00000015"), (1.234567e-5, "0.00001234567"),
        (0.1 + 0.2, "0.30000000000000004"), (35.69092100000001, "35.69092100000001"),
        (99_999_999.999_999_9, "99999999.9999999"), (123_456_789.125, "123456789.125"), (1e15, "1000000000000000"),
        (9_007_199_254_740_992, "9007199254740992"), (1.5e20, "150000000000000000000"), (1e21, "1e+21"),
        (1e-8, "1e-08"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.nan, "null"), (.infinity, "null"),
        (-.infinity, "null"),
    ]
    @Test(arguments: numbers)
    func `The writer gives a number its shortest text`(number: (value: Double, text: String)) {
        #expect(text { $0.value(number.value) } == number.text)
    }

    @Test func `Numbers read back the same and are no longer than needed`() {
        var random = SystemRandomNumberGenerator()
        var wrong: [Double] = []
        let powers = [1, 10, 1e3, 1e6, 1e7, 1e8, 1e9, 1e10]
        for round in 0..<20_000 {
            let bits = Double(bitPattern: random.next())
            let decimal = Double(Int64.random(in: -2_000_000_000...2_000_000_000)) / powers[round % powers.count]
            for number in [bits, decimal] where number.isFinite {
                let json = text { $0.value(number) }
                let digits = { (text: String) in text.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" } }
                let mine = String(digits(json).reversed().drop { $0 == "0" })
                let shortest = String(digits(number.description).reversed().drop { $0 == "0" })
                if Double(json) != number || mine != shortest { wrong.append(number) }
            }
        }
        #expect(wrong.isEmpty)
    }

    /// The extremes, and integers of every length, with zeros at the end and between.
    @Test func `The writer keeps every digit of an integer`() {
        var random = SplitMix64(state: 1)
        var wrong = [0, .max, .min].filter { number in text { $0.value(number) } != String(number) }
        for round in 0..<40_000 {
            let number = Int(truncatingIfNeeded: random.next() >> UInt64(round % 64))
            let zeros = [1, 10, 100, 10_000, 1_000_000, 100_000_000][round % 6]
            for number in [number, -number, number / zeros * zeros, number % zeros]
            where text({ $0.value(number) }) != String(number) { wrong.append(number) }
        }
        #expect(wrong.isEmpty)
    }

    /// Keys are written in words of eight bytes, and the buffer ends within some of them.
    @Test(arguments: [0, 40, 41, 60, 63, 64, 100])
    func `The writer gives each key its length`(before: Int) {
        let start = String(repeating: "x", count: before)
        let json = text { writer in
            writer.beginObject()
            writer.member("", start)
            writer.member("a", 1)
            writer.member("seven77", 7)
            writer.member("of_thirteen_b", true)
            writer.member("of_fourteen_by", false)
            writer.member("of_twenty_one_bytes_1", 21)
            writer.member("of_twenty_two_bytes_22", 22)
            writer.member("日本", "語")
            writer.key("z")
            writer.null()
            writer.endObject()
        }
        let keys = #""a":1,"seven77":7,"of_thirteen_b":true,"of_fourteen_by":false,"of_twenty_one_bytes_1":21,"#
        #expect(json == #"{"":"\#(start)","# + keys + #""of_twenty_two_bytes_22":22,"日本":"語","z":null}"#)
    }

    @Test func `The writer begins empty after reset`() {
        var writer = JSONWriter(capacity: 1)
        for round in 1...40 {
            let long = String(repeating: "日本\"", count: round * 50)
            writer.beginArray()
            writer.value(long)
            writer.value(round)
            writer.endArray()
            let expected = "[\"\(long.replacing("\"", with: "\\\""))\",\(round)]"
            #expect(String(decoding: writer.finish(), as: UTF8.self) == expected)
        }
        writer.beginObject()
        writer.reset()
        #expect(writer.bytes.count == 0)
    }
}
