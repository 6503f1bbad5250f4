/// A value for each case of an enumeration.
///
/// A dictionary would hash the case's raw value, which takes 340 instructions for a string. Comparing a case with each
/// of the others takes a few instructions per case.
public struct CaseTable<Case: CaseIterable & Equatable, Value> {
    @usableFromInline let cases: [Case]
    @usableFromInline let values: [Value]

    /// - Parameter value: Makes the value of a case; called once per case.
    public init(_ value: (Case) -> Value) {
        cases = Array(Case.allCases)
        values = cases.map(value)
    }

    @inlinable
    public subscript(key: Case) -> Value {
        for index in cases.indices where cases[index] == key { return values[index] }
        preconditionFailure("\(Case.self).allCases lacks a case")
    }
}

extension CaseTable: Sendable where Case: Sendable, Value: Sendable {}
