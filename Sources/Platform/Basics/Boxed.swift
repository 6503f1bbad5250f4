/// A copy-on-write box that stores a value behind one pointer.
///
/// An async function's frame has space for each copy of a value that it passes on, and every request has such frames
/// for the whole duration of its call. A boxed value takes eight bytes of them. Copies share the box; changing one
/// copies it.
@propertyWrapper
@frozen
public enum Boxed<Value> {
    indirect case box(Value)

    @inlinable
    public init(wrappedValue: Value) { self = .box(wrappedValue) }

    @inlinable
    public var wrappedValue: Value {
        get {
            switch self {
            case .box(let value): value
            }
        }
        set { self = .box(newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
extension Boxed: Sendable where Value: Sendable {}
