/// A table for few keys, in the order of insertion: a cluster's topics and groups.
///
/// A linear search takes a fraction of the time of hashing a key, and every request makes several look-ups.
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
