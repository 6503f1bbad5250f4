import LocationSearch
import Testing

@testable import EventContract

struct RequestDecoderTests {
    @Test func readsBareJSON() throws {
        let decoded = try Records.decode(#"{"location":{"latitude":35.690921,"longitude":139.700258}}"#)
        #expect(decoded.request.location == Coordinate(latitude: 35.690921, longitude: 139.700258))
    }
}
