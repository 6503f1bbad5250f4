/// The wanted members of an object. They are found without creating strings:
///
///     enum Member: String, CaseIterable { case id, name }
///     static let members = JSONMembers<Member>()
///
///     while let member = try reader.nextMember(of: Self.members) {
///         switch member {
///         case .id: id = try reader.string()
///         case .name: name = try reader.string()
///         }
///     }
///
/// Create it only once, because finding a table without collisions takes some time.
public struct JSONMembers<Member: CaseIterable & RawRepresentable<String> & Sendable>: Sendable {
    @usableFromInline let all: [Member]
    @usableFromInline let table: JSONNameTable

    /// Makes the table of the members' raw values.
    public init() {
        all = Array(Member.allCases)
        table = JSONNameTable(all.map(\.rawValue))
    }
}

/// Names in a hash table without collisions, hashed by their first and last eight bytes and their length. A single
/// lookup finds a name, or shows that a key is not one of the names.
@usableFromInline struct JSONNameTable: Sendable {
    private struct Name {
        let head: UInt64
        let tail: UInt64
        let mark: UInt64
        let count: Int
        let index: Int
    }
    /// An entry of the table. An empty entry equals no key, because no key has a negative length.
    private struct Slot {
        var head: UInt64 = 0
        var tail: UInt64 = 0
        var count = -1
        var index = 0
    }
    private let slots: [Slot]
    private let names: [[UInt8]]
    private let multiplier: UInt64
    private let shift: UInt64
    /// One bit per combination of first byte and length in any name. It excludes most keys that are not names.
    private let firsts: UInt64

    init(_ texts: [String]) {
        names = texts.map { Array($0.utf8) }
        let entries = names.enumerated().map { index, name in
            let (head, tail) = (Self.word(name.prefix(8)), name.count > 8 ? Self.word(name.suffix(8)) : 0)
            let mark = Self.mark(head: head, tail: tail, count: name.count)
            return Name(head: head, tail: tail, mark: mark, count: name.count, index: index)
        }
        firsts = names.reduce(0) { $0 | 1 &<< Self.first($1.first ?? UInt8(ascii: "\""), count: $1.count) }
        precondition(
            Set(entries.map(\.mark)).count == entries.count,
            "names must differ in length, or in their first or last 8 bytes")

        var (bits, random) = (4 as UInt64, 0x9E37_79B9_7F4A_7C15 as UInt64)  // the golden ratio's fraction, odd
        while true {
            if let slots = Self.slots(entries, multiplier: random, shift: 64 - bits) {
                (self.slots, multiplier, shift) = (slots, random, 64 - bits)
                return
            }
            random = random &* 0x5851_F42D_4C95_7F2D | 1  // Knuth's MMIX multiplier: any other odd number will do
            // A small table stays in the processor's nearest cache, so many multipliers are tried before a larger
            // table.
            if random >> 57 == 0 { bits += 1 }
        }
    }

    private static func slots(_ names: [Name], multiplier: UInt64, shift: UInt64) -> [Slot]? {
        var slots = [Slot](repeating: Slot(), count: 1 << Int(64 - shift))
        for name in names {
            let place = place(of: name.mark, multiplier: multiplier, shift: shift)
            guard slots[place].count < 0 else { return nil }
            slots[place] = Slot(head: name.head, tail: name.tail, count: name.count, index: name.index)
        }
        return slots
    }

    @inline(__always)
    private static func place(of mark: UInt64, multiplier: UInt64, shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (mark &* multiplier) &>> shift)
    }

    /// Combines the hashed parts of a name: its first and last eight bytes and its length.
    @inline(__always)
    private static func mark(head: UInt64, tail: UInt64, count: Int) -> UInt64 {
        head ^ (tail &<< 23 | tail &>> 41) ^ UInt64(truncatingIfNeeded: count) &<< 57
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
    }

    /// Returns the number of a bit in `firsts`, below 64.
    @inline(__always)
    private static func first(_ byte: UInt8, count: Int) -> UInt64 {
        (UInt64(byte) ^ UInt64(truncatingIfNeeded: count) &<< 3) & 63
    }

    /// Returns `false` for most keys that are not names, and `true` for every name.
    @inline(__always)
    func mayHold(from start: Int, to end: Int, in input: borrowing JSONBytes) -> Bool {
        // Even an empty key has a byte here, its closing quote.
        firsts &>> Self.first(input.byte(start), count: end &- start) & 1 != 0
    }

    /// Returns the index of a key among the names; `nil` if it is not a name.
    @inline(__always)
    func index(of key: JSONBytes.TextRange, in input: borrowing JSONBytes) -> Int? {
        if key.hasEscapes { return index(ofEscaped: key, in: input) }
        guard mayHold(from: key.start, to: key.end, in: input) else { return nil }

        let count = key.end &- key.start
        let head = input.head(key.start, length: count)
        let tail = count > 8 ? input.word(at: key.end &- 8) : 0
        let mark = Self.mark(head: head, tail: tail, count: count)
        let slot = slots[Self.place(of: mark, multiplier: multiplier, shift: shift)]
        guard slot.head == head, slot.tail == tail, slot.count == count else { return nil }

        return count <= 16 || hasMiddle(ofName: slot.index, at: key, in: input) ? slot.index : nil
    }

    /// Returns whether a key equals a name of the same length between the first and the last eight bytes.
    @inline(never)
    private func hasMiddle(ofName index: Int, at key: JSONBytes.TextRange, in input: borrowing JSONBytes) -> Bool {
        let name = names[index]
        for place in 8..<name.count where name[place] != input.bytes[key.start + place] { return false }
        return true
    }

    @inline(never)
    private func index(ofEscaped key: JSONBytes.TextRange, in input: borrowing JSONBytes) -> Int? {
        guard let text = try? input.text(key).string() else { return nil }
        return names.firstIndex { $0.elementsEqual(text.utf8) }
    }
}

extension JSONReader {
    /// Moves to the next wanted member, skipping the others; `nil` at the end of the object.
    @inlinable
    public mutating func nextMember<Member>(of members: borrowing JSONMembers<Member>) throws(JSONError) -> Member? {
        guard let index = try nextMember(in: members.table) else { return nil }
        return members.all[index]
    }

    @usableFromInline
    mutating func nextMember(in table: borrowing JSONNameTable) throws(JSONError) -> Int? {
        let input = JSONBytes(input.bytes)
        var place = offset

        while true {
            guard var key = try seekKey(from: place, in: input) else { return nil }
            let end = skipTexts(from: &key, notIn: table, input)

            let range = try input.textRange(from: key, endingAt: end, using: &index)
            place = try input.behindColon(from: range.end)
            if let member = table.index(of: range, in: input) {
                offset = place
                return member
            }
            place = try skipValue(at: place, in: input)
        }
    }

    /// Skips unwanted string members of compact input.
    /// - Parameter key: The index of a key's opening quote. It is moved to the first key that may be wanted, or whose
    ///   value is not such a string.
    /// - Returns: The index of the first special byte in that key.
    @inline(__always)
    private mutating func skipTexts(
        from key: inout Int, notIn table: borrowing JSONNameTable, _ input: borrowing JSONBytes
    ) -> Int {
        while true {
            let end = index.special(from: key &+ 1, in: input.bytes)
            guard end &+ 4 <= input.count, !table.mayHold(from: key &+ 1, to: end, in: input),
                input.holds(UInt8(ascii: "\""), then: UInt8(ascii: ":"), then: UInt8(ascii: "\""), at: end)
            else { return end }

            let close = index.special(from: end &+ 3, in: input.bytes)
            guard close &+ 4 <= input.count,
                input.holds(UInt8(ascii: "\""), then: UInt8(ascii: ","), then: UInt8(ascii: "\""), at: close)
            else { return end }
            key = close &+ 2
        }
    }

    /// Moves to the next member's key. The start is after an opening brace or a member.
    /// - Returns: The index of the key's quote; `nil` if the object has ended and was left.
    @inline(__always)
    private mutating func seekKey(from start: Int, in input: borrowing JSONBytes) throws(JSONError) -> Int? {
        // In compact input the next key follows at once.
        if !isAtStart, input.holds(UInt8(ascii: ","), then: UInt8(ascii: "\""), at: start) { return start &+ 1 }
        return try seekKeyBehindBlanks(from: start, in: input)
    }

    @inline(never)
    private mutating func seekKeyBehindBlanks(
        from start: Int, in input: borrowing JSONBytes
    ) throws(JSONError) -> Int? {
        let place = try input.token(from: start)
        if input.byte(place) == UInt8(ascii: "}") {
            leave(behind: place)
            return nil
        }
        if isAtStart {
            isAtStart = false
            return try input.key(from: place)
        }
        guard input.byte(place) == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: place) }
        return try input.key(from: place &+ 1)
    }
}
