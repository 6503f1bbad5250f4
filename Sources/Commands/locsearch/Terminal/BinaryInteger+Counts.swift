/// Formats counts for display.
extension BinaryInteger {
    /// The number with grouped digits: `1,204,000`.
    var grouped: String {
        let digits = Array("\(magnitude)")
        let text = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }
        return (self < 0 ? "-" : "") + text.joined()
    }

    /// Returns the number with a noun: `1 request`, `1,204 requests`.
    func counted(_ thing: String) -> String { "\(grouped) \(thing)\(self == 1 ? "" : "s")" }
}
