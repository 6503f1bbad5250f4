/// Values that are known by numbers. A closure or a task can have the number where the value itself may not leave its actor.
///
/// A number is given again only after 2^31 uses of its place, so that one which is out of date finds nothing; 0 never finds
/// anything. Every operation takes constant time.
@frozen
public struct NumberedValues<Value> {
    @usableFromInline var values: [Value?] = []
    /// How often each place was used, from 1 on.
    @usableFromInline var uses: [Int] = []
    @usableFromInline var free: [Int] = []

    @inlinable
    public init() {}

    /// Keeps a value.
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

    /// The value of a number; `nil` once it was removed.
    @inlinable
    public subscript(number: Int) -> Value? {
        let place = number & Int(UInt32.max)
        return place < values.count && uses[place] == number >> 32 ? values[place] : nil
    }

    /// Removes a value.
    /// - Returns: the value; `nil` where it was removed before.
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
