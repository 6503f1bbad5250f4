import LocationSearch

extension Coordinate {
    /// Parses `latitude,longitude` in decimal degrees; `nil` if the text is not a valid position.
    init?(text: String) {
        let numbers = Setting.entries(text).map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else { return nil }

        self.init(latitude: latitude, longitude: longitude)
        guard isValid else { return nil }
    }
}
