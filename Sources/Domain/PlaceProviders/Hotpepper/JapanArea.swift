import LocationSearch

/// The area that Hot Pepper covers: Japan's land and some sea around it, without towns of its neighbours.
enum JapanArea {
    private struct Box {
        let latitude: ClosedRange<Double>
        let longitude: ClosedRange<Double>
    }

    // The boxes are drawn by hand between the coasts. Busan (35.1, 129.1) and Ulsan are outside, Tsushima (34.2-34.7,
    // 129.2-129.5) inside. Vladivostok (43.1, 131.9) and Sakhalin (from 45.9 north) are outside, Wakkanai (45.4, 141.7)
    // inside. Taiwan (to 122.0 east) is outside, Yonaguni (24.4, 123.0) inside.
    private static let boxes = [
        Box(latitude: 24.0...31.0, longitude: 122.9...131.5),  // Ryukyu
        Box(latitude: 31.0...34.75, longitude: 128.3...130.5),  // western Kyushu, Goto, Tsushima
        Box(latitude: 30.0...36.5, longitude: 130.5...132.5),  // Kyushu, Yamaguchi, Shimane
        Box(latitude: 32.5...38.0, longitude: 132.5...137.0),  // Shikoku, Chugoku, Kinki
        Box(latitude: 33.0...41.6, longitude: 137.0...142.5),  // Chubu, Kanto, Tohoku
        Box(latitude: 41.3...45.6, longitude: 139.2...146.0),  // Hokkaido
        Box(latitude: 20.0...33.0, longitude: 136.0...154.0),  // Ogasawara and the far islands
    ]

    /// Returns whether Hot Pepper may have a restaurant at the position.
    static func contains(_ position: Coordinate) -> Bool {
        boxes.contains { $0.latitude.contains(position.latitude) && $0.longitude.contains(position.longitude) }
    }
}
