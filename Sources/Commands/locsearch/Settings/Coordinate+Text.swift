import LocationSearch

extension Coordinate {
    /// Reads `latitude,longitude` in decimal degrees; `nil` when the text is no position on earth.
    init?(text: String) {
        let numbers = Setting.entries(text).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else { return nil }

        self.init(latitude: latitude, longitude: longitude)
        guard isValid else { return nil }
    }
}
