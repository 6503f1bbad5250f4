internal import NIOCore
internal import NIOHTTP1

/// A generated picture of a place: a flat drawing derived from the path of the request, so that a place looks the same
/// in every run. The picture does not contain the path.
struct Picture {
    enum Motif: CaseIterable {
        case bowl, cup, noren, storefront
    }

    static let pathPrefix = "/pictures/"
    private let hash: UInt64

    init(path: some StringProtocol) {
        var fingerprint = Fingerprint()
        fingerprint.combine(path.utf8)
        hash = mixed(fingerprint.value)
    }

    /// Answers a request for a path below `/pictures/`.
    static func reply(to request: IncomingRequest) -> Reply {
        guard request.method == .GET || request.method == .HEAD else {
            return Reply.page(405, title: "Method Not Allowed")
        }

        var reply = Reply(Reply.svg, body: Picture(path: request.path).svg, outcome: "picture")
        reply.headers = [("Cache-Control", "public, max-age=86400"), ("X-Content-Type-Options", "nosniff")]
        return reply
    }

    /// The drawing as an SVG document of 400 by 300.
    var svg: String {
        var numbers = HashStream(hash)
        let palette = numbers.pick(Palette.all)
        let motif = numbers.pick(Motif.allCases)

        var canvas = SVGCanvas(width: 400, height: 300)
        Self.drawBackground(on: &canvas, in: palette, using: &numbers)
        switch motif {
        case .bowl: Self.drawBowl(on: &canvas, in: palette, using: &numbers)
        case .cup: Self.drawCup(on: &canvas, in: palette, using: &numbers)
        case .noren: Self.drawNoren(on: &canvas, in: palette, using: &numbers)
        case .storefront: Self.drawStorefront(on: &canvas, in: palette, using: &numbers)
        }
        return canvas.document
    }

    private static func drawBackground(
        on canvas: inout SVGCanvas, in palette: Palette, using numbers: inout HashStream
    ) {
        canvas.rectangle(x: 0, y: 0, width: 400, height: 300, fill: palette.sky)
        canvas.circle(
            x: 60 + numbers.next(below: 280), y: 60 + numbers.next(below: 50), radius: 34 + numbers.next(below: 36),
            fill: palette.glow)
        canvas.rectangle(x: 0, y: 240, width: 400, height: 60, fill: palette.ground)
    }
}
