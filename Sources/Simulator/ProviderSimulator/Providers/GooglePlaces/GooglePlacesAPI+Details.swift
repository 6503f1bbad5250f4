internal import JSON
internal import NIOCore
internal import NIOHTTP1

extension GooglePlacesAPI {
    func details() throws(InvalidArgument) -> Reply {
        guard request.method == .GET else { return Reply.page(404, title: "Not Found") }

        let mask = try mask(for: .details)
        let given = QueryParameters.decodePath(request.path.dropFirst("/v1/places/".count))

        // A fault and a blank may precede the id.
        let id = given.split(separator: " ").last ?? ""
        let language = PlaceLanguage(request.query["languageCode"])
        switch resources.world.ids.googlePlace(id) {
        case .malformed: throw InvalidArgument(message: "Not a valid Place ID: \(id.prefix(100))", field: "name")
        case .unknown: return Self.error(.notFound)
        case .place(let known):
            guard let (cell, place) = resources.world.place(known) else { return Self.error(.notFound) }
            let writer = GooglePlacesPlace(
                text: PlaceText(place: place, cell: cell), ids: resources.world.ids, language: language,
                isServiceArea: false, isFuture: false)
            let json = writer.render()
            var body = JSONLayout.googlePlaces.lay(mask.places?.applied(to: json) ?? json)
            body.writeStaticString("\n")
            return Reply(Reply.json, body: body)
        }
    }

    func photo() throws(InvalidArgument) -> Reply {
        guard request.method == .GET else { return Reply.page(404, title: "Not Found") }

        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(QueryParameters.decodePath)

        // The parts are "", v1, places, id, photos, reference, media.
        guard parts.count == 7, parts[4] == "photos" else { return Reply.page(404, title: "Not Found") }

        var sizes: [String] = []
        for (name, letter) in [("maxWidthPx", "w"), ("maxHeightPx", "h")] {
            guard let text = request.query[name] else { continue }
            guard let size = Int(text), (1...4800).contains(size) else {
                throw InvalidArgument(message: "Invalid \(name): must be between 1 and 4800.", field: name)
            }
            sizes.append("\(letter)\(size)")
        }

        guard !sizes.isEmpty else {
            throw InvalidArgument(
                message: "At least one of max_width_px and max_height_px must be set.", field: "max_width_px")
        }

        guard let photo = PhotoReferences(of: resources.world).find(parts[5]),
            case .place(let place) = resources.world.ids.googlePlace(parts[3]),
            resources.world.ids.words(place) == photo.words
        else { throw InvalidArgument(message: "The photo resource in the request is invalid.", field: "name") }

        let link = PhotoReferences.link(to: photo, size: sizes.joined(separator: "-"))
        guard request.query["skipHttpRedirect"] == "true" else {
            var reply = Reply(
                Reply.html, body: "<HTML><BODY><A HREF=\"\(link)\">The picture</A></BODY></HTML>\n", status: 302,
                outcome: "ok")
            reply.headers.append(("Location", link))
            return reply
        }

        return Reply(
            Reply.json,
            body: "{\n  \"name\": \"places/\(parts[3])/photos/\(parts[5])/media\",\n  \"photoUri\": \"\(link)\"\n}\n",
            outcome: "ok")
    }
}
