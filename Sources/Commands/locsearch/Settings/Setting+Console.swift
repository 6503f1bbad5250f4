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
                "port of the console; 0: any free port, which is printed",
            Setting("console.token", .text, isSecret: true):
                "token required to log in to the console; at least 16 characters",
            Setting("console.tokenFile", .text): "file that holds the token, instead; read again when it changes",
            Setting("console.allowAnonymous", .flag, default: "false"):
                "allows console.host to be reachable by others without a token",
            Setting("console.allowedHosts", .hosts):
                "additional host names that a console without a token accepts, such as a proxy's",
            Setting("console.workers", .urls): "admin endpoints of workers to show; unset: http://127.0.0.1:8080",
            Setting("console.start", .coordinate, default: "\(console.start.latitude),\(console.start.longitude)"):
                "initial centre of the map",
            Setting("console.tileURL", .text):
                "URL of map tiles, with {z}, {x} and {y}; unset: outlines of land and water",
            Setting("console.tileAttribution", .text): "attribution that the map shows for its tiles",
            Setting("console.googleMapsKey", .text, isSecret: true):
                "Google Maps key; every page receives it, so restrict it to the console's address",
            Setting("console.pictureBaseURL", .url(canBeOff: false)):
                "base URL from which pictures of places are fetched instead, such as a simulator's",
        ])
    }()
}
