import JSON

/// Formats the settings in force for `locsearch config`, without secrets.
extension Settings {
    /// The settings as a table for a terminal.
    var table: String {
        var table = TextTable(["setting", .left("value", maxWidth: 80), "from"])
        for setting in Setting.read {
            guard let value = values[setting.name] else { continue }
            table.add([setting.name, value.text.map(setting.shown) ?? "-", value.origin.description])
        }
        return table.lines.joined(separator: "\n")
    }

    /// The settings as a JSON array, with one object on one line for each.
    var json: String {
        var lines: [String] = []
        for setting in Setting.read {
            guard let value = values[setting.name] else { continue }
            var json = JSONWriter(capacity: 256)
            write(setting, value, to: &json)
            lines.append(String(decoding: json.finish(), as: UTF8.self))
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }

    private func write(_ setting: Setting, _ value: Value, to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", setting.name)
        json.member("environment", setting.environmentName)
        if let text = value.text {
            let shown = setting.shown(text)
            // A value that is entirely secret is left out, so that its placeholder is not mistaken for the value.
            if !setting.isSecret { json.member("value", shown) }
            json.member("hidden", setting.hides(partOf: text) ? true : nil)
        }

        switch value.origin {
        case .flag: json.member("source", "command-line")
        case .environment(let variable):
            json.member("source", "environment")
            json.member("variable", variable)
        case .file(let path, let line):
            json.member("source", "file")
            json.member("file", path)
            json.member("line", line)
        case .default: json.member("source", "default")
        }
        json.endObject()
    }
}
