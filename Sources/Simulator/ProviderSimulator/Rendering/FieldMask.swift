internal import JSON

/// Selects the requested members of an answer. `a,b.c` keeps `a` and only `c` of `b`. In an array, it keeps the same
/// members of each element.
final class FieldMask: Sendable {
    private struct Node: Sendable {
        /// True if everything below is kept.
        var isWhole = false
        var children: [String: Node] = [:]

        mutating func insert(_ path: ArraySlice<Substring>) {
            guard let first = path.first else { return isWhole = true }
            children[String(first), default: Node()].insert(path.dropFirst())
        }
    }
    private let root: Node

    init(paths: [Substring]) {
        var root = Node()
        for path in paths {
            if path == "*" {
                root.isWhole = true
            } else {
                root.insert(path.split(separator: ".", maxSplits: 15)[...])
            }
        }
        self.root = root
    }

    /// Returns the part of `json` that the mask keeps. `json` must be valid and contain no blanks.
    func applied(to json: [UInt8]) -> [UInt8] {
        guard !root.isWhole else { return json }
        var writer = JSONWriter(capacity: json.count)
        var reader = JSONReader(json.span)
        guard (try? Self.copy(root, from: &reader, of: json, to: &writer)) != nil else { return json }
        return writer.finish()
    }

    /// Copies the part of the next value that `node` keeps.
    private static func copy(
        _ node: Node, from reader: inout JSONReader, of json: [UInt8], to writer: inout JSONWriter
    ) throws(JSONError) {
        let kind = try reader.kind()
        if node.isWhole || kind != .object && kind != .array {
            let range = try reader.skippedRange()
            return writer.value(json: json.span.extracting(range))
        }

        if kind == .array {
            _ = try reader.enterArray()
            writer.beginArray()
            while try reader.nextElement() { try copy(node, from: &reader, of: json, to: &writer) }
            return writer.endArray()
        }

        _ = try reader.enterObject()
        writer.beginObject()
        while let key = try reader.nextKey() {
            let name = try key.string()
            guard let child = node.children[name] else {
                try reader.skip()
                continue
            }
            writer.key(name)
            try copy(child, from: &reader, of: json, to: &writer)
        }

        writer.endObject()
    }
}
