import ProviderCalls
import Testing

struct NumberedValuesTests {
    @Test func `Values are found by their numbers until they are removed`() {
        var values = NumberedValues<String>()
        let numbers = ["a", "b", "c"].map { values.insert($0) }
        #expect(numbers.map { values[$0] } == ["a", "b", "c"])
        #expect(values.remove(numbers[1]) == "b")
        #expect(values.remove(numbers[1]) == nil)
        #expect(numbers.map { values[$0] } == ["a", nil, "c"])
    }

    @Test func `A number that is out of date finds nothing`() {
        var values = NumberedValues<Int>()
        var former: Set<Int> = [0]
        for value in 0..<1000 {
            let number = values.insert(value)
            #expect(former.insert(number).inserted)
            #expect(values[number] == value)
            values.remove(number)
            #expect(former.allSatisfy { values[$0] == nil })
        }
    }

    @Test(arguments: [-1, .min, .max, 0, 1 << 32 | 7]) func `A number that was never given finds nothing`(number: Int) {
        var values = NumberedValues<Int>()
        _ = values.insert(1)
        #expect(values[number] == nil)
        #expect(values.remove(number) == nil)
    }
}
