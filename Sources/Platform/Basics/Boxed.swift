/// A copy-on-write box that stores a value behind one pointer.
///
/// For a large value that passes through many functions: each copies a pointer. Copies share the box; changing one copies
/// it.
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
