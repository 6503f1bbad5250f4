import Testing

@testable import JSON

/// The reader's errors, and what it finds in texts of any length. `JSONOracleFuzzTests` compares all values.
struct JSONReaderTests {
    private func error(_ text: [UInt8], depth: Int = 64) -> JSONError? {
        do throws(JSONError) {
            var reader = JSONReader(text.span, maximumDepth: depth)
            try reader.skip()
            try reader.finish()
            return nil
        } catch {
            return error
        }
    }

    private func error(_ text: String) -> JSONError? { error(Array(text.utf8)) }

    @Test(
        arguments: [
            ("", JSONError.Kind.unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1),
            ("[1", .unexpectedEnd, 2), (#"{"a""#, .unexpectedEnd, 4), (#"{"a":"#, .unexpectedEnd, 5),
            (#""abc"#, .unexpectedEnd, 4), ("[1,]", .unexpectedByte, 3), (#"{"a":1,}"#, .unexpectedByte, 7),
            ("{1:2}", .unexpectedByte, 1), (#"{"a" 1}"#, .unexpectedByte, 5), ("[1 2]", .unexpectedByte, 3),
            ("]", .unexpectedByte, 0), ("[}", .unexpectedByte, 1), ("tru", .unexpectedEnd, 3),
            ("trux", .unexpectedByte, 3), ("nan", .unexpectedByte, 1), ("'a'", .unexpectedByte, 0),
            ("{} {}", .trailingBytes, 3), ("1 2", .trailingBytes, 2), ("01", .invalidNumber, 1),
            ("1.", .unexpectedEnd, 2), ("1.x", .invalidNumber, 2), ("-", .unexpectedEnd, 1), ("-a", .invalidNumber, 1),
            ("1e", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("+1", .unexpectedByte, 0),
            (".5", .unexpectedByte, 0), (#""\x""#, .invalidEscape, 2), (#""\u12g4""#, .invalidEscape, 5),
            ("\"a\nb\"", .controlCharacter, 2), ("\"12345678\u{01}\"", .controlCharacter, 9),
        ] as [(String, JSONError.Kind, Int)])
    func `Text that is no JSON is refused at its first error`(text: String, kind: JSONError.Kind, offset: Int) {
        #expect(error(text) == JSONError(kind, at: offset))
    }

    @Test func `The reader refuses containers beyond its depth`() {
        let deep = Array(String(repeating: "[", count: 65).utf8)
        #expect(error(deep) == JSONError(.tooDeep, at: 64))
        #expect(error(Array("[[[]]]".utf8), depth: 3) == nil)
        #expect(error(Array("[[[]]]".utf8), depth: 2) == JSONError(.tooDeep, at: 2))
        // Entered and skipped containers count together.
        var reader = JSONReader(deep.span)
        #expect((try? reader.enterArray()) == true)
        #expect(throws: JSONError(.tooDeep, at: 64)) { try reader.skip() }
    }

    @Test(
        arguments: [
            ("[", "", JSONError(.tooDeep, at: 64)), ("{\"a\":", "", JSONError(.tooDeep, at: 64 * 5)),
            (" ", "", JSONError(.unexpectedEnd, at: 1_000_000)), ("9", "", nil), ("9", "e-1000000", nil),
            ("-", "", JSONError(.invalidNumber, at: 1)), ("\"", "", JSONError(.trailingBytes, at: 2)),
            ("\\", "", JSONError(.unexpectedByte, at: 0)), ("\u{0}", "", JSONError(.unexpectedByte, at: 0)),
        ] as [(String, String, JSONError?)])
    func `A megabyte of one piece is read iteratively`(piece: String, end: String, expected: JSONError?) {
        let text = Array(String(repeating: piece, count: 1_000_000 / piece.utf8.count).utf8) + Array(end.utf8)
        #expect(error(text) == expected)
        var reader = JSONReader(text.span)
        let number = try? reader.lenientDouble()
        #expect(number.map(\.isFinite) ?? true)
    }

    /// The reader reads no bytes beyond the end of an input: each prefix of a document is in a buffer of exactly its size.
    @Test func `Every proper prefix of a value is refused`() {
        let text = Array(#" {"key":[1.5e-3,"\u3042\"xyz",{"longer key of it":true,"a":null}],"b":"12345678"} "#.utf8)
        for length in 0..<text.count - 2 {
            #expect(error(Array(text[..<length])) == JSONError(.unexpectedEnd, at: length), "\(length)")
        }
        #expect(error(text) == nil)
    }

    /// The reader scans texts in blocks of 64 bytes.
    ///
    /// It must find the end of each text at any position in a block and for any length, continue with the next
    /// text, and report an error at its offset.
    @Test(arguments: 0..<66)
    func `The reader finds the end of a text wherever it is in a block`(before: Int) {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        for length in 0..<150 {
            let head = bytes(String(repeating: " ", count: before) + #"["k",""#) + Array(repeating: 0xA9, count: length)
            let fault = head.count
            for behind in [0, 1, 3, 4, 63, 64, 130] {
                let rest = bytes(#"",{"a":"b"}]"# + String(repeating: " ", count: behind))
                #expect(texts(head + rest) == ["k", "\(length)", "a", "b"], "\(length) \(behind)")
                #expect(texts(head + bytes(#"\""#) + rest) == ["k", "\(length + 2)", "a", "b"], "\(length) \(behind)")
                #expect(error(head + rest) == nil)
                #expect(error(head + [0x1F] + rest) == JSONError(.controlCharacter, at: fault))
                #expect(error(head + bytes(#"\x"#) + rest) == JSONError(.invalidEscape, at: fault + 1))
            }
            #expect(error(head) == JSONError(.unexpectedEnd, at: fault))
        }
    }

    /// Returns the texts of an array and of the object at its end; for long ones, their lengths.
    private func texts(_ text: [UInt8]) -> [String]? {
        var (reader, found) = (JSONReader(text.span), [String]())
        do throws(JSONError) {
            guard try reader.enterArray() else { return nil }
            for _ in 0..<2 {
                guard try reader.nextElement(), let text = try reader.text() else { return nil }
                found.append(found.isEmpty ? try text.string() : "\(text.count)")
            }
            guard try reader.nextElement(), try reader.enterObject(), let key = try reader.nextKey() else { return nil }
            found.append(try key.string())
            guard let value = try reader.string(), try reader.nextKey() == nil else { return nil }
            found.append(value)
            guard try !reader.nextElement() else { return nil }
            try reader.finish()
            return found
        } catch {
            return nil
        }
    }

    private func string(_ text: [UInt8]) throws -> String? {
        var reader = JSONReader(text.span)
        return try reader.string()
    }

    /// All sequences of two bytes with possible continuations, after texts of several lengths and alphabets.
    @Test(arguments: [
        "", "abc", "abcd", "abcdefg", "abcdefgh", "ramen and more", "an even longer text of 31 bytes", "東京都 ガー🍜é",
    ])
    func `A text is checked and repaired as by the standard library`(before: String) throws {
        let ends: [[UInt8]] = [
            [], [0x41], [0x80], [0x80, 0x80], [0xBF, 0xBF], [0x80, 0xC0], [0xE3, 0x81, 0x82, 0xE3],
        ]
        var (valid, differing) = (0, [[UInt8]]())
        for first in UInt8(0x7E)...0xFF {
            for second in UInt8(0x7E)...0xFF {
                for end in ends {
                    let text = Array(before.utf8) + [first, second] + end
                    let (string, appended) = (try? self.string(quoted(text)), try appending(quoted(text)))
                    let expected = String(validating: text, as: UTF8.self)
                    let agree =
                        string == expected && appended == Array(String(decoding: text, as: UTF8.self).utf8)
                        && text.span.isUTF8 == (expected != nil)
                    if !agree { differing.append(text) }
                    if expected != nil { valid += 1 }
                }
            }
        }
        #expect(differing.isEmpty)
        #expect(valid > 3_000)
    }

    private func quoted(_ text: [UInt8]) -> [UInt8] { [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")] }

    /// Returns a text after appending it to another.
    private func appending(_ body: [UInt8]) throws -> [UInt8] {
        var reader = JSONReader(body.span)
        var target = [UInt8(ascii: ">")]
        try reader.appendText(to: &target)
        return Array(target.dropFirst())
    }

    @Test func `Reading continues after a text with invalid UTF-8`() throws {
        let text: [UInt8] = Array(#"["a"#.utf8) + [0xFF, 0xC3] + Array(#"",7]"#.utf8)
        var reader = JSONReader(text.span)
        #expect(try reader.enterArray())
        #expect(try reader.nextElement())
        #expect(throws: JSONError(.invalidUTF8, at: 2)) { try reader.string() }
        #expect(try reader.nextElement())
        #expect(try reader.int() == 7)
    }

    private func number<Value>(_ text: String, _ read: (inout JSONReader) throws -> Value?) rethrows -> Value? {
        let bytes = Array(text.utf8)
        var reader = JSONReader(bytes.span)
        return try read(&reader)
    }

    @Test func `A value of another kind is nil`() throws {
        for text in ["1", #"["a"]"#, "null"] { #expect(try string(Array(text.utf8)) == nil) }
        #expect(try number(#""1""#) { try $0.double() } == nil)
        #expect(try number("true") { try $0.int() } == nil)
    }

    @Test(
        arguments: [
            (#""35.69""#, 35.69), (#"" 1 ""#, 1), ("2", 2), (#""""#, nil), (#""1x""#, nil), (#""NaN""#, nil),
            ("null", nil), ("[1]", nil), (#""\u0033\u0035""#, 35), (#""3\u0035.5""#, 35.5), (#""\u002d1""#, -1),
            (#""1\n""#, 1), (#""\u0041""#, nil), (#""1\ud800""#, nil), (#""\"1\"""#, nil),
        ] as [(String, Double?)])
    func `A number may be a text`(text: String, expected: Double?) throws {
        #expect(try number(text) { try $0.lenientDouble() } == expected)

        // A reader of integers gives the same result, if the number is one.
        let whole = try number(text) { try $0.lenientInt() }
        #expect(whole.map { Double($0) } == expected.flatMap { $0.rounded() == $0 ? $0 : nil })
    }

    // MARK: - Members

    private enum Member: String, CaseIterable {
        case id, name, longName = "a_name_longer_than_8", longer = "a_name_longer_than_9", one = "x"
    }
    private static let members = JSONMembers<Member>()

    @Test func `The reader finds the wanted members among others`() throws {
        let text = Array(
            #"{"zz":[{"id":1}],"id":"1","na":2,"name":"n","a_name_longer_than_8":8,"a_name_longer_than_9":9,"a_name_longer_than_7":7,"a_name_lONGEr_than_8":0,"x":1,"\u0069d":"2","y":{}}"#
                .utf8)
        var reader = JSONReader(text.span)
        #expect(try reader.enterObject())
        var found: [Member] = []
        while let member = try reader.nextMember(of: Self.members) {
            found.append(member)
            try reader.skip()
        }
        try reader.finish()
        #expect(found == [.id, .name, .longName, .longer, .one, .id])
    }

    /// A key and a string close to each other are skipped in one step. Others, with blanks between them or
    /// with another value, are skipped too.
    @Test(arguments: 0..<66)
    func `The reader skips unwanted members wherever they are in a block`(before: Int) throws {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        for length in stride(from: 0, to: 140, by: 5) {
            let long = String(repeating: "x", count: length)
            for text in [
                #"{"k":"\#(long)","id":"w","a":{"b":"\#(long)","c":"d"}}"#,
                #"{"k\#(long)":"","id":"w","a":{"b":{},"c":[]}}"#,
                #"{"k": "\#(long)", "id":"w" , "a":{ "b" :"\#(long)" ,"c":1}}"#,
                #"{"k":"\"\#(long)","i\u0064":"w","a":"\#(long)"}"#,
            ] {
                for behind in [0, 1, 63, 66] {
                    let input = bytes(
                        String(repeating: " ", count: before) + text + String(repeating: " ", count: behind))
                    var reader = JSONReader(input.span)
                    #expect(try reader.enterObject())
                    #expect(try reader.nextMember(of: Self.members) == .id)
                    #expect(try reader.string() == "w")
                    #expect(try reader.nextMember(of: Self.members) == nil)
                    try reader.finish()
                    #expect(error(input) == nil)
                }
                let fault = bytes(String(repeating: " ", count: before) + text.dropLast())
                #expect(error(fault) == JSONError(.unexpectedEnd, at: fault.count))
            }
        }
    }

    @Test func `Keys are compared without making strings`() throws {
        let text = Array(#"{"id":1,"identifier_of_it":2,"i\u0064":3,"":4}"#.utf8)
        var reader = JSONReader(text.span)
        #expect(try reader.enterObject())
        var seen: [Int] = []
        while let key = try reader.nextKey() {
            switch key {
            case "id": seen.append(try #require(try reader.int()))
            case "identifier_of_it":
                seen.append(20)
                try reader.skip()
            default: try reader.skip()
            }
        }
        #expect(seen == [1, 20, 3])
    }
}
