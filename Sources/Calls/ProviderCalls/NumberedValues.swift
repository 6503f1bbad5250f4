/// Values identified by numbers. A closure or a task can hold the number if the value itself must not leave its actor.
///
/// A number is reused only after 2^31 uses of its entry, so an outdated number finds nothing. 0 is never a valid number.
/// Every operation takes constant time.
@frozen
public struct NumberedValues<Value> {
    @usableFromInline var values: [Value?] = []
    /// How often each entry was used, from 1.
    @usableFromInline var uses: [Int] = []
    @usableFromInline var free: [Int] = []

    @inlinable
    public init() {}

    /// Stores a value.
    /// - Returns: its number.
    @inlinable
    public mutating func insert(_ value: Value) -> Int {
        guard let place = free.popLast() else {
            values.append(value)
            uses.append(1)
            return 1 << 32 | (values.count - 1)
        }
        values[place] = value
        return uses[place] << 32 | place
    }

    /// The value of a number; `nil` after its removal.
    @inlinable
    public subscript(number: Int) -> Value? {
        let place = number & Int(UInt32.max)
        return place < values.count && uses[place] == number >> 32 ? values[place] : nil
    }

    /// Removes a value.
    /// - Returns: the value; `nil` if it was removed before.
    @inlinable
    @discardableResult
    public mutating func remove(_ number: Int) -> Value? {
        guard let value = self[number] else { return nil }
        let place = number & Int(UInt32.max)
        values[place] = nil
        // bounded: stays within 31 bits, and is never 0
        uses[place] = uses[place] % Int(Int32.max) + 1
        free.append(place)
        return value
    }
}
