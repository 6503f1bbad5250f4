internal import NIOHTTP1

/// A generated picture of a place: a bowl under the sun. Its colours and positions are derived from the path of the
/// request, so that a place looks the same in every run. The picture does not contain the path.
struct Picture {
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
        let hue = numbers.next(below: 360)
        let sun = (
            x: 60 + numbers.next(below: 280), y: 60 + numbers.next(below: 50), radius: 34 + numbers.next(below: 36)
        )
        func colour(_ turn: Int, light: Int) -> String { "hsl(\((hue + turn) % 360),55%,\(light)%)" }

        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="400" height="300" viewBox="0 0 400 300">
            <rect width="400" height="300" fill="\(colour(0, light: 85))"/>
            <circle cx="\(sun.x)" cy="\(sun.y)" r="\(sun.radius)" fill="\(colour(40, light: 75))"/>
            <rect y="240" width="400" height="60" fill="\(colour(20, light: 60))"/>
            <path d="M95 152 H305 A105 96 0 0 1 95 152 Z" fill="\(colour(180, light: 40))"/>
            <ellipse cx="200" cy="152" rx="105" ry="22" fill="\(colour(180, light: 92))"/>
            </svg>

            """
    }
}
