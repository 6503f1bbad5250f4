import Console
import LocationSearch

/// The settings that workers do not use.
extension Setting {
    /// The settings of `locsearch console`, in display order.
    static let console: [Setting] = {
        let console = ConsoleConfiguration()
        return described([
            Setting("console.host", .text, default: console.host): "address of the console",
            Setting("console.port", .integer(0...65_535), default: "\(console.port)"):
                "its port; 0: any free one, printed",
            Setting("console.token", .text, isSecret: true):
                "visitors of the console must show it; at least 16 characters",
            Setting("console.tokenFile", .text): "file that holds the token, instead; read again when it changes",
            Setting("console.allowAnonymous", .flag, default: "false"):
                "listen on other addresses than this machine's own without a token",
            Setting("console.allowedHosts", .hosts):
                "names beside this machine's own under which a console without a token answers, such as a proxy's",
            Setting("console.workers", .urls): "admin endpoints of workers to show; unset: http://127.0.0.1:8080",
            Setting("console.history", .integer(1...100_000), default: "200"):
                "records of each partition that are read when the console starts",
            Setting(
                "console.requestExpiry", .duration(.seconds(5) ... .seconds(3600), canBeOff: false),
                default: console.requestExpiry.text):
                "how long a page's request is wanted; a worker that gets to it later asks no provider",
            Setting("console.start", .coordinate, default: "\(console.start.latitude),\(console.start.longitude)"):
                "where the map begins",
            Setting("console.tileURL", .text):
                "tiles of the map, with {z}, {x} and {y}; unset: land and water in outline",
            Setting("console.tileAttribution", .text): "whom the map must name for its tiles",
            Setting("console.googleMapsKey", .text, isSecret: true):
                "key of Google's map, which every page gets: restrict it to the console's address",
            Setting("console.leafletDirectory", .text, default: "/usr/share/javascript/leaflet"):
                "where Leaflet is installed; without it the console draws a map of its own",
            Setting("console.pictureBaseURL", .url(canBeOff: false)):
                "where pictures are fetched instead of at those hosts, such as a simulator",
            Setting("console.pageDirectory", .text): "files of the page, for those who work on it; unset: built in",
        ])
    }()
}
