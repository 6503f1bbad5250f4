/// Counts as people read them.
extension BinaryInteger {
    /// `1,204,000`, which is read at a glance.
    var grouped: String {
        let digits = Array("\(magnitude)")
        let text = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }
        return (self < 0 ? "-" : "") + text.joined()
    }

    /// `1 request`, `1,204 requests`.
    func counted(_ thing: String) -> String { "\(grouped) \(thing)\(self == 1 ? "" : "s")" }
}
