import TestSupport
import Testing

@testable import JSON

/// Reading with a layout gives the same result as a reader that checks every key.
struct JSONLayoutTests {
    private static let paths = ["id", "lat", "genre.name", "photo.pc.l"]
    private static let shop =
        #"{"id":"J1","name":"鳥","lat":35.5,"capacity":12,"a rather long name of a member":"","#
        + #""genre":{"code":"G1","name":"居酒屋"},"photo":{"pc":{"l":"u"}},"open":true}"#

    /// Returns the fields that a layout learned from one object finds in another, and the offset at which it ends.
    private func follow(_ text: String, learning: String = shop) throws -> (fields: [String?], end: Int)? {
        var layout = JSONLayout(Self.paths)
        layout.learn(from: learning.utf8.span)
        return try follow(Array(text.utf8), &layout)
    }

    private func follow(_ text: [UInt8], _ layout: inout JSONLayout) throws -> (fields: [String?], end: Int)? {
        var reader = JSONReader(text.span)
        var fields = JSONFields(of: layout)
        guard reader.follow(&layout, into: &fields) else { return nil }
        return (Self.paths.indices.map { self.text(of: fields[$0], reader) }, reader.offset)
    }

    /// Returns a string's text, and the text of any other value in brackets; `nil` for a missing one.
    private func text(of field: JSONField, _ reader: borrowing JSONReader) -> String? {
        var bytes: [UInt8] = []
        reader.append(field, to: &bytes)
        if field.isText { return String(decoding: bytes, as: UTF8.self) }
        return reader.lenientDouble(field).map { "(\($0))" }
    }

    @Test func `Objects with the same layout are followed`() throws {
        let other = Self.shop.replacing("J1", with: "J234567890123456789").replacing("35.5", with: "-7e1")
        let found = try #require(try follow(other))
        #expect(found.fields == ["J234567890123456789", "(-70.0)", "居酒屋", "u"])
        #expect(found.end == other.utf8.count)
    }

    @Test(arguments: [
        (#""lat":35.5,"#, ["J1", nil, "居酒屋", "u"]),
        (#""genre":{"code":"G1","name":"居酒屋"},"#, ["J1", "(35.5)", nil, "u"]),
        (#","open":true"#, ["J1", "(35.5)", "居酒屋", "u"]),
    ])
    func `Members may be missing`(member: String, expected: [String?]) throws {
        #expect(try follow(Self.shop.replacing(member, with: ""))?.fields == expected)
    }

    @Test(arguments: [
        ("35.5", #""35.5""#, "35.5"), ("35.5", "null", nil), ("35.5", "true", nil), ("35.5", #""""#, ""),
        ("35.5", #""\u0033\"""#, "3\""), ("35.5", "1e999", nil),
    ])
    func `Values may be of another kind`(value: String, other: String, expected: String?) throws {
        let found = try #require(try follow(Self.shop.replacing(value, with: other)))
        #expect(found.fields == ["J1", expected, "居酒屋", "u"])
    }

    @Test(arguments: [
        (#""id":"J1","#, ""), (#""name":"鳥","#, #""name":"鳥","name":"鳥","#), (#""lat":"#, #""lng":"#),
        (#":35.5"#, ": 35.5"),
        ("12", "[12]"), ("12", "{}"), ("12", "01"), ("12", "1."), ("12", "1e"), ("12", "-"), ("12", "tru"), ("12", ""),
        ("鳥", #"\x"#), ("鳥", #"\u12g4"#), ("鳥", "\u{1}"), ("鳥", #"""#), (#""open":true"#, #""open":true,"new":1"#),
    ])
    func `An object with another layout is left to the caller`(part: String, other: String) throws {
        #expect(try follow(Self.shop.replacing(part, with: other)) == nil)
    }

    @Test(arguments: [
        "{}", "[]", #""x""#, "7", #"{"a":[1]}"#, #"{"a":1,"a":2}"#, #"{"\u0061":1}"#, #"{"genre.name":1}"#,
    ])
    func `A value without a layout is not learned`(text: String) throws {
        var layout = JSONLayout(Self.paths)
        layout.learn(from: text.utf8.span)
        let isFollowed = try follow(Array(text.utf8), &layout) != nil
        #expect(isFollowed == (text == "{}"))
    }

    @Test(arguments: [(1000, true), (2000, false)])
    func `An object of too many members is not learned`(count: Int, isLearned: Bool) throws {
        let text = "{\((0..<count).map { #""\#($0)":1"# }.joined(separator: ","))}"
        #expect(try (follow(text, learning: text) != nil) == isLearned)
    }

    @Test func `A useful layout is replaced only by a longer one`() throws {
        var layout = JSONLayout(Self.paths)
        let (shop, short) = (Array(Self.shop.utf8), Array(#"{"name":"x"}"#.utf8))
        layout.learn(from: shop.span)
        for _ in 0..<8 {
            #expect(try follow(shop, &layout) != nil)
            layout.learn(from: short.span)
        }
        #expect(try follow(shop, &layout) != nil)
        for _ in 0..<2000 { layout.learn(from: short.span) }
        #expect(try follow(short, &layout) != nil)
    }

    @Test func `A truncated object is not followed`() throws {
        var layout = JSONLayout(Self.paths)
        layout.learn(from: Self.shop.utf8.span)
        let text = Array(Self.shop.utf8)
        for count in 1..<text.count {
            #expect(try follow(Array(text[..<count]), &layout) == nil)
        }
    }

    /// Damaged objects, of all lengths up to several stretches of the index. What a layout can follow is JSON, ends at the same
    /// offset, and has the same values.
    @Test func `Following a layout finds the values that a reader finds`() throws {
        var random = SplitMix64(state: 5)
        var (followed, left) = (0, 0)
        for number in 0..<4000 {
            var layout = JSONLayout(Self.paths)
            let blank = number % 3 == 0 ? "\n    " : ""
            layout.learn(from: Self.object(blank, length: 3, &random).span)

            let length = Int.random(in: 0..<(number % 7 == 0 ? 900 : 40), using: &random)
            var text = Self.object(blank, length: length, &random)
            if number % 4 != 0 {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                case 2: text.removeLast(text.count - place)
                default: text.insert(Array(#"{}[],:"\ 0e.t"#.utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }

            guard let found = try follow(text, &layout) else {
                left += 1
                continue
            }
            followed += 1
            var reader = JSONReader(text.span)
            #expect(throws: Never.self) { try reader.skip() }
            #expect(reader.offset == found.end)
            #expect(found.fields == (try fields(of: text)), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(followed > 1000 && left > 1000)
    }

    /// Returns an object with texts of up to `length` characters, a quarter of which need an escape or more than one byte.
    private static func object(_ blank: String, length: Int, _ random: inout SplitMix64) -> [UInt8] {
        let pieces = ["a", "b", "c", "d", "e", "f", "g", "鳥", "🍜", #"\""#, #"\\"#, #"\u00e9"#]
        func text() -> String {
            (0..<Int.random(in: 0...length, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
        }
        let lat = ["35.5", "-1", "0", "\"7\"", "null"][Int.random(in: 0..<5, using: &random)]
        let catchphrase = Int.random(in: 0..<3, using: &random) == 0 ? "" : #","catch":\#(blank)"\#(text())""#
        return Array(
            (#"{\#(blank)"id":"\#(text())",\#(blank)"name":"\#(text())",\#(blank)"lat":\#(lat)\#(catchphrase),\#(blank)"#
                + #""genre":{"code":"\#(text())","name":"\#(text())"},"photo":{"pc":{"l":"\#(text())"}}\#(blank)}"#)
                .utf8)
    }

    /// Finds the values of the paths by checking every key.
    private func fields(of text: [UInt8]) throws -> [String?] {
        try Self.paths.map { path in
            var reader = JSONReader(text.span)
            for name in path.split(separator: ".") {
                guard try reader.enterObject() else { return nil }
                var isThere = false
                while !isThere, let key = try reader.nextKey() {
                    isThere = try key.string() == name
                    if !isThere { try reader.skip() }
                }
                if !isThere { return nil }
            }
            return self.text(of: try reader.field(), reader)
        }
    }

    // MARK: - The index

    /// Bytes of all kinds, with lengths around multiples of words and stretches.
    @Test(arguments: [0, 1, 15, 63, 64, 65, 127, 1000, 1023, 1024, 1025, 1087, 1088, 2047, 2048, 2049, 5000])
    func `The index finds every special byte`(count: Int) {
        var random = SplitMix64(state: UInt64(count))
        for rarity in [2, 40, 4000] {
            let bytes = (0..<count).map { _ in
                Int.random(in: 0..<rarity, using: &random) == 0
                    ? Array("\"\\\n\u{0}\u{1F}".utf8).randomElement(using: &random) ?? 0
                    : UInt8.random(in: 0x23...0x5B, using: &random) | (UInt8.random(in: 0...1, using: &random) << 7)
            }
            var (index, next) = (JSONIndex(), count)
            let input = JSONBytes(bytes.span)
            for place in stride(from: count - 1, through: 0, by: -1) {
                if bytes[place] < 0x20 || bytes[place] == 0x22 || bytes[place] == 0x5C { next = place }
                #expect(index.special(from: place, in: input.bytes) == next)
            }
            for place in 0..<count where place % 97 == 0 {
                let found = index.special(from: place, in: input.bytes)
                #expect(found >= place && bytes[place..<found].allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
            }
            #expect(index.special(from: count, in: input.bytes) >= count)
        }
    }

    @Test(arguments: [#""\u0033\u0035""#, #""3\u0035""#, #""\u0020 35""#, #""35\n""#])
    func `A number in a text may have escapes`(value: String) throws {
        var layout = JSONLayout(Self.paths)
        layout.learn(from: Self.shop.utf8.span)
        let text = Array(Self.shop.replacing("35.5", with: value).utf8)
        var (reader, fields) = (JSONReader(text.span), JSONFields(of: layout))
        #expect(reader.follow(&layout, into: &fields))
        #expect(reader.lenientDouble(fields[1]) == 35)
    }

    /// A layout lives as long as the process, so no object may make it large.
    @Test(arguments: [
        #"{"id":"J1","\#(String(repeating: "k", count: 1_000_000))":1}"#,
        #"{"id":"J1","lat":1,\#(String(repeating: " ", count: 1_000_000))"open":true}"#,
        #"{"id":"J1","a":{"\#(String(repeating: "k", count: 1_000_000))":{"b":1}}}"#,
        #"{\#((0..<3000).map { #""key \#($0)":1"# }.joined(separator: ","))}"#,
    ])
    func `A layout stays small whatever it learns`(object: String) {
        var layout = JSONLayout(Self.paths)
        layout.learn(from: object.utf8.span)
        #expect(layout.steps.count <= 1024)
    }
}
