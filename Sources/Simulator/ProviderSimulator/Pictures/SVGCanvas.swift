/// Collects the shapes of a drawing. Later shapes cover earlier ones. Lengths are in the drawing's units.
struct SVGCanvas {
    let width: Int
    let height: Int
    private var shapes = ""

    init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    /// The drawing as an SVG document.
    var document: String {
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\""
            + " viewBox=\"0 0 \(width) \(height)\">\n\(shapes)</svg>\n"
    }

    mutating func rectangle(x: Int, y: Int, width: Int, height: Int, rounding: Int = 0, fill: Colour) {
        let corner = rounding > 0 ? " rx=\"\(rounding)\"" : ""
        shapes += "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\"\(corner) fill=\"\(fill)\"/>\n"
    }

    mutating func ellipse(x: Int, y: Int, radiusX: Int, radiusY: Int, fill: Colour) {
        shapes += "<ellipse cx=\"\(x)\" cy=\"\(y)\" rx=\"\(radiusX)\" ry=\"\(radiusY)\" fill=\"\(fill)\"/>\n"
    }

    mutating func circle(x: Int, y: Int, radius: Int, fill: Colour) {
        ellipse(x: x, y: y, radiusX: radius, radiusY: radius, fill: fill)
    }

    /// Fills an outline.
    /// - Parameter outline: the commands of an SVG path.
    mutating func area(_ outline: String, fill: Colour) { shapes += "<path d=\"\(outline)\" fill=\"\(fill)\"/>\n" }

    /// Draws a line with round ends.
    /// - Parameter outline: the commands of an SVG path.
    mutating func line(_ outline: String, width: Int, stroke: Colour) {
        shapes +=
            "<path d=\"\(outline)\" fill=\"none\" stroke=\"\(stroke)\" stroke-width=\"\(width)\""
            + " stroke-linecap=\"round\"/>\n"
    }
}

/// A colour in the form 0xRRGGBB.
struct Colour: ExpressibleByIntegerLiteral, CustomStringConvertible {
    let description: String

    init(integerLiteral value: UInt32) {
        let digits = String(value, radix: 16)
        description = "#" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}
