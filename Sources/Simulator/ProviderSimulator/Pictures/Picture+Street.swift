/// Draws objects in a street.
extension Picture {
    /// An entrance under a roof, with a noren and lanterns.
    static func drawNoren(on canvas: inout SVGCanvas, in palette: Palette, using numbers: inout HashStream) {
        canvas.rectangle(x: 62, y: 76, width: 276, height: 176, fill: palette.main)
        canvas.area("M34 82 H366 L336 46 H64 Z", fill: palette.dark)
        canvas.rectangle(x: 112, y: 108, width: 176, height: 144, fill: palette.dark)
        for x in stride(from: 122, to: 280, by: 40) {
            canvas.rectangle(x: x, y: 120, width: 36, height: 132, fill: palette.glow)
            canvas.rectangle(x: x + 16, y: 120, width: 4, height: 132, fill: palette.dark)
        }

        let (panels, drop) = (3 + numbers.next(below: 3), 50 + numbers.next(below: 30))
        let width = 184 / panels
        for index in 0..<panels {
            canvas.rectangle(x: 108 + index * width, y: 104, width: width - 4, height: drop, fill: palette.accent)
        }
        canvas.circle(x: 200, y: 104 + drop / 2, radius: 15, fill: palette.light)
        canvas.circle(x: 200, y: 104 + drop / 2, radius: 8, fill: palette.accent)
        canvas.line("M100 102 H300", width: 6, stroke: palette.dark)

        drawLantern(on: &canvas, x: 86, in: palette)
        if numbers.percent(60) { drawLantern(on: &canvas, x: 314, in: palette) }
        canvas.rectangle(x: 100, y: 250, width: 200, height: 12, rounding: 3, fill: palette.light)
    }

    private static func drawLantern(on canvas: inout SVGCanvas, x: Int, in palette: Palette) {
        canvas.line("M\(x) 84 V108", width: 3, stroke: palette.dark)
        canvas.ellipse(x: x, y: 132, radiusX: 17, radiusY: 24, fill: palette.light)
        canvas.rectangle(x: x - 10, y: 105, width: 20, height: 6, rounding: 2, fill: palette.dark)
        canvas.rectangle(x: x - 10, y: 153, width: 20, height: 6, rounding: 2, fill: palette.dark)
        canvas.rectangle(x: x - 16, y: 129, width: 32, height: 6, fill: palette.accent)
    }

    /// A shop with an awning, a window and a door.
    static func drawStorefront(on canvas: inout SVGCanvas, in palette: Palette, using numbers: inout HashStream) {
        canvas.rectangle(x: 60, y: 56, width: 280, height: 198, rounding: 4, fill: palette.main)
        canvas.rectangle(x: 50, y: 48, width: 300, height: 14, rounding: 3, fill: palette.dark)
        canvas.rectangle(x: 110, y: 72, width: 180, height: 26, rounding: 13, fill: palette.light)
        let dots = 3 + numbers.next(below: 3)
        for index in 0..<dots {
            canvas.circle(x: 200 + index * 24 - (dots - 1) * 12, y: 85, radius: 6, fill: palette.accent)
        }

        let doorIsLeft = numbers.percent(50)
        drawDoor(on: &canvas, x: doorIsLeft ? 84 : 244, in: palette)
        drawWindow(on: &canvas, x: doorIsLeft ? 176 : 80, in: palette)
        for index in 0..<7 {
            let colour = index.isMultiple(of: 2) ? palette.accent : palette.light
            canvas.area("M\(60 + index * 40) 108 h40 v28 a20 17 0 0 1 -40 0 Z", fill: colour)
        }
        drawPlant(on: &canvas, x: doorIsLeft ? 322 : 74, in: palette)
    }

    private static func drawDoor(on canvas: inout SVGCanvas, x: Int, in palette: Palette) {
        canvas.rectangle(x: x, y: 140, width: 72, height: 114, fill: palette.dark)
        canvas.rectangle(x: x + 10, y: 150, width: 52, height: 62, rounding: 3, fill: palette.glow)
        canvas.circle(x: x + 60, y: 226, radius: 5, fill: palette.light)
    }

    private static func drawWindow(on canvas: inout SVGCanvas, x: Int, in palette: Palette) {
        canvas.rectangle(x: x, y: 146, width: 144, height: 78, fill: palette.dark)
        canvas.rectangle(x: x + 6, y: 152, width: 63, height: 66, fill: palette.glow)
        canvas.rectangle(x: x + 75, y: 152, width: 63, height: 66, fill: palette.glow)
        canvas.rectangle(x: x - 6, y: 224, width: 156, height: 9, rounding: 3, fill: palette.light)
    }

    private static func drawPlant(on canvas: inout SVGCanvas, x: Int, in palette: Palette) {
        canvas.circle(x: x, y: 214, radius: 20, fill: 0x5E8C61)
        canvas.circle(x: x - 10, y: 224, radius: 12, fill: 0x6FA372)
        canvas.area("M\(x - 16) 232 h32 l-5 26 h-22 Z", fill: palette.accent)
    }
}
