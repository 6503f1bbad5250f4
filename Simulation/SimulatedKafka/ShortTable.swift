/// Values by keys of which there are few, in the order in which they came: a cluster's topics and groups.
///
/// Looking through all keys takes a fraction of what it takes to hash one of them, and every request asks several times.
struct ShortTable<Key: Equatable, Value> {
    private(set) var keys: [Key] = []
    private(set) var values: [Value] = []

    subscript(key: Key) -> Value? {
        get {
            guard let index = keys.firstIndex(of: key) else { return nil }
            return values[index]
        }
        set {
            guard let index = keys.firstIndex(of: key) else {
                guard let newValue else { return }
                keys.append(key)
                values.append(newValue)
                return
            }
            if let newValue {
                values[index] = newValue
            } else {
                keys.remove(at: index)
                values.remove(at: index)
            }
        }
    }
}
