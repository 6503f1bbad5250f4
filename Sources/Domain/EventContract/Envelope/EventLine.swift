import JSON

/// A record as one line of JSON, for files and pipes. `schemas/validate.py --events` reads this format.
///
///     {"topic":"location-search.results","partition":0,"offset":7,"key":"...","headers":[["ce_id","..."]],"value":"..."}
///
/// Key, value and header values are text. Bytes that are not UTF-8 are written as `keyBase64`, `valueBase64` or, in a
/// header, as `{"base64":"..."}`. Missing parts of the record are `null`.
public enum EventLine {
    /// Writes one record.
    /// - Returns: the line without its line feed.
    public static func encode(
        topic: String, partition: Int32? = nil, offset: Int64? = nil, key: [UInt8]?, value: [UInt8]?,
        headers: [RecordHeader]
    ) -> [UInt8] {
        var json = JSONWriter(capacity: (value?.count ?? 0) + 1024)
        json.beginObject()
        json.member("topic", topic)
        json.member("partition", partition.map { Int($0) })
        json.member("offset", offset.map { Int($0) })
        json.bytes(key, "key", base64: "keyBase64")

        json.key("headers")
        json.beginArray()
        for header in headers {
            json.beginArray()
            json.value(header.name)
            json.headerValue(header)
            json.endArray()
        }
        json.endArray()

        json.bytes(value, "value", base64: "valueBase64")
        json.endObject()
        return json.finish()
    }
}

extension JSONWriter {
    fileprivate mutating func bytes(_ bytes: [UInt8]?, _ name: StaticString, base64: StaticString) {
        guard let bytes else {
            key(name)
            return null()
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            member(name, text)
        } else {
            member(base64, Base64.encode(bytes))
        }
    }

    fileprivate mutating func headerValue(_ header: RecordHeader) {
        guard let bytes = header.value else { return null() }
        if let text = header.text { return value(text) }
        beginObject()
        member("base64", Base64.encode(bytes))
        endObject()
    }
}
