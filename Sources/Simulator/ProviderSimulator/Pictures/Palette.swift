/// The colours of one picture, chosen to match.
struct Palette {
    let sky: Colour
    /// The sun or the moon.
    let glow: Colour
    let ground: Colour
    /// The largest object, such as a wall or a bowl.
    let main: Colour
    /// Small objects that stand out, such as an awning or a noren.
    let accent: Colour
    let light: Colour
    let dark: Colour

    static let all = [
        // Morning.
        Palette(
            sky: 0xFCE8C8, glow: 0xF9B572, ground: 0xD9A066, main: 0xF4F0E6, accent: 0xD1495B, light: 0xFFF9EC,
            dark: 0x5B4636),
        // Dusk.
        Palette(
            sky: 0x413C69, glow: 0xF6D186, ground: 0x2B2849, main: 0x8A6FA8, accent: 0xE36387, light: 0xFBE8D3,
            dark: 0x1F1B36),
        // Matcha.
        Palette(
            sky: 0xE3EDC9, glow: 0xFFF4BD, ground: 0xA3B565, main: 0xF7F3E3, accent: 0x4F7942, light: 0xFFFDF2,
            dark: 0x3B4A2F),
        // Cherry blossom.
        Palette(
            sky: 0xFBE3EA, glow: 0xFFF6F0, ground: 0xE2A8B8, main: 0xB4656F, accent: 0x4A5A8A, light: 0xFFF4F4,
            dark: 0x4E2A34),
        // Sea.
        Palette(
            sky: 0xCDE8F0, glow: 0xFFF1C1, ground: 0x7FB3C8, main: 0x2F6690, accent: 0xE9A23B, light: 0xF5FBFD,
            dark: 0x16324F),
        // Persimmon.
        Palette(
            sky: 0xF6D7B0, glow: 0xFBF0DA, ground: 0xB5653A, main: 0x7A3E2B, accent: 0xE07A2F, light: 0xFFF3DD,
            dark: 0x3D2018),
    ]
}
