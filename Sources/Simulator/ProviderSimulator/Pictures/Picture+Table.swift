/// Draws objects on a table.
extension Picture {
    /// Draws a bowl of noodles with random toppings.
    static func drawBowl(on canvas: inout SVGCanvas, in palette: Palette, using numbers: inout HashStream) {
        canvas.line("M215 146 L338 62", width: 6, stroke: palette.dark)
        canvas.line("M230 150 L352 78", width: 6, stroke: palette.dark)

        canvas.rectangle(x: 160, y: 240, width: 80, height: 18, rounding: 4, fill: palette.dark)
        canvas.area("M95 152 H305 A105 96 0 0 1 95 152 Z", fill: palette.main)
        canvas.area("M97 172 H303 L298 188 H102 Z", fill: palette.accent)
        canvas.ellipse(x: 200, y: 152, radiusX: 105, radiusY: 22, fill: palette.light)
        canvas.ellipse(x: 200, y: 153, radiusX: 95, radiusY: 17, fill: 0xC98B4B)
        for offset in 0..<4 {
            let x = 122 + offset * 22
            canvas.line("M\(x) 158 q11 -9 22 0 t22 0", width: 3, stroke: 0xF4DEA6)
        }

        drawToppings(on: &canvas, using: &numbers)
        drawSteam(on: &canvas, above: 120, count: 1 + numbers.next(below: 3), colour: palette.light)
    }

    private static func drawToppings(on canvas: inout SVGCanvas, using numbers: inout HashStream) {
        if numbers.percent(70) {
            canvas.ellipse(x: 162, y: 150, radiusX: 19, radiusY: 10, fill: 0xFFFBF2)
            canvas.ellipse(x: 162, y: 150, radiusX: 9, radiusY: 5, fill: 0xF2A33A)
        }
        if numbers.percent(60) {
            canvas.rectangle(x: 240, y: 116, width: 30, height: 36, rounding: 2, fill: 0x2E4635)
        }
        for index in 0..<(2 + numbers.next(below: 4)) {
            canvas.circle(x: 196 + index * 9, y: 148 + index % 2 * 8, radius: 4, fill: 0x7FB069)
        }
    }

    /// Draws a cup on a saucer.
    static func drawCup(on canvas: inout SVGCanvas, in palette: Palette, using numbers: inout HashStream) {
        canvas.ellipse(x: 200, y: 250, radiusX: 125, radiusY: 18, fill: palette.dark)
        canvas.ellipse(x: 200, y: 246, radiusX: 125, radiusY: 18, fill: palette.light)
        canvas.line("M276 162 q52 -4 44 32 q-8 30 -60 28", width: 13, stroke: palette.main)
        canvas.area("M122 140 H278 Q280 244 226 246 H174 Q120 244 122 140 Z", fill: palette.main)
        for index in 0..<numbers.next(below: 4) {
            canvas.circle(x: 152 + index * 32, y: 196, radius: 9, fill: palette.accent)
        }

        canvas.ellipse(x: 200, y: 140, radiusX: 78, radiusY: 17, fill: palette.light)
        canvas.ellipse(x: 200, y: 141, radiusX: 70, radiusY: 13, fill: numbers.percent(50) ? 0x6F4E37 : 0x8DA750)
        drawSteam(on: &canvas, above: 116, count: 2 + numbers.next(below: 2), colour: palette.light)
    }

    private static func drawSteam(on canvas: inout SVGCanvas, above y: Int, count: Int, colour: Colour) {
        for index in 0..<count {
            let x = 200 + index * 28 - (count - 1) * 14
            canvas.line("M\(x) \(y) q-12 -16 0 -30 t0 -30", width: 5, stroke: colour)
        }
    }
}
