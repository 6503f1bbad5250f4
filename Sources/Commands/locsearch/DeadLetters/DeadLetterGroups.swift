import EventContract
import JSON

/// Counts dead letters by reason, faulty member and producer.
struct DeadLetterGroups {
    struct Kind: Hashable {
        let reason: String
        let member: String?
        let producer: String?
    }

    struct Count {
        var letters = 0
        /// The letters that can be redriven, some of them only with `--force`.
        var pending = 0
        /// The pending letters that need `--force`, because worker processes crashed with them.
        var forced = 0
        /// The pending letters that are still invalid.
        var faulty = 0
        var oldest: WallTime?
        var newest: WallTime?
    }

    private(set) var counts: [Kind: Count] = [:]

    init(_ letters: [DeadLetterSummary]) {
        for letter in letters {
            let kind = Kind(reason: letter.reason, member: letter.member, producer: letter.producer)
            var count = counts[kind] ?? Count()
            count.letters += 1  // bounded: a count of what is in memory
            if letter.isPending { count.pending += 1 }  // bounded: a count of what is in memory
            if letter.isPending, letter.crashesWorkers { count.forced += 1 }  // bounded: a count of what is in memory
            if letter.isPending, letter.fault != nil { count.faulty += 1 }  // bounded: a count of what is in memory
            // The letters are sorted from oldest to newest.
            count.oldest = count.oldest ?? letter.time
            count.newest = letter.time ?? count.newest
            counts[kind] = count
        }
    }

    /// The groups, largest first.
    var sorted: [(kind: Kind, count: Count)] {
        counts.map { ($0.key, $0.value) }.sorted {
            ($1.count.letters, $0.kind.reason, $0.kind.member ?? "", $0.kind.producer ?? "")
                < ($0.count.letters, $1.kind.reason, $1.kind.member ?? "", $1.kind.producer ?? "")
        }
    }

    var text: [String] {
        var table = TextTable([
            .right("letters"), .right("can go back"), .right("only with --force"), .right("still invalid"), "reason",
            "member", "producer", "oldest", "newest",
        ])
        for (kind, count) in sorted {
            let unforced = count.pending - count.forced  // bounded: a subset of the letters
            table.add([
                count.letters.grouped, unforced.grouped, count.forced.grouped, count.faulty.grouped, kind.reason,
                kind.member ?? "-", kind.producer ?? "-", count.oldest?.description ?? "-",
                count.newest?.description ?? "-",
            ])
        }
        return table.lines
    }

    var json: [String] {
        sorted.map { group in JSONWriter.objectText(capacity: 256) { Self.write(group, to: &$0) } }
    }

    static func write(_ group: (kind: Kind, count: Count), to json: inout JSONWriter) {
        json.member("letters", group.count.letters)
        json.member("pending", group.count.pending)
        json.member("needForce", group.count.forced)
        json.member("faulty", group.count.faulty)
        json.member("reason", group.kind.reason)
        json.member("member", group.kind.member)
        json.member("producer", group.kind.producer)
        json.member("oldest", group.count.oldest?.description)
        json.member("newest", group.count.newest?.description)
    }
}
