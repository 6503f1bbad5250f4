import EventContract
import JSON

/// The dead letters of the topic at the time of reading, for the console's page.
struct DeadLetterList {
    /// The number of all letters that were read.
    let total: Int
    /// The number of letters that can go back and have not.
    let pending: Int
    /// The number of letters that match the query.
    let matching: Int
    /// The newest matching letters, newest first.
    let letters: [DeadLetterSummary]
    /// All letters that were read.
    let groups: DeadLetterGroups
    let readAt: WallTime
    /// A text that identifies the end of the topic.
    let version: String
    /// True if the topic has older letters, which were not read and are not counted.
    let isPartial: Bool

    var json: [UInt8] {
        JSONWriter.object(capacity: 16384) { json in
            json.member("total", total)
            json.member("pending", pending)
            json.member("matching", matching)
            json.member("readAt", readAt.description)
            json.member("confirm", version)
            if isPartial { json.member("isPartial", true) }
            json.objects("groups", of: groups.sorted) { group, json in DeadLetterGroups.write(group, to: &json) }
            json.objects("letters", of: letters) { letter, json in DeadLetterText.write(letter, to: &json) }
        }
    }
}
