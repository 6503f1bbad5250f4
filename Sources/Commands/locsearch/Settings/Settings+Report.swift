import JSON

/// The settings in force as `locsearch config` prints them, without secrets.
extension Settings {
    /// A table for a terminal.
    var table: String {
        var table = TextTable(["setting", .left("value", maxWidth: 80), "from"])
        for setting in Setting.all {
            guard let value = values[setting.name] else { continue }
            table.add([setting.name, value.text.map(setting.shown) ?? "-", value.origin.description])
        }
        return table.lines.joined(separator: "\n")
    }

    /// A JSON array with one object, and one line, for each setting.
    var json: String {
        var lines: [String] = []
        for setting in Setting.all {
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
            // A value that is all secret is left out, so that nobody takes the mark for the value.
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
