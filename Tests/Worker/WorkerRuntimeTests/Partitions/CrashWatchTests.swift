import Testing

@testable import Kafka
@testable import WorkerRuntime

/// The crash notes that successive owners of a partition inherit and write.
struct CrashWatchTests {
    private static let start = Instant(nanoseconds: 0)

    /// Returns an owner that has inherited notes.
    private func owner(after notes: CrashNotes) -> CrashWatch {
        var watch = CrashWatch()
        watch.inherit(notes)
        return watch
    }

    @Test func `An owner notes its try once`() {
        var watch = owner(after: CrashNotes())
        #expect(watch.needsNote)
        watch.willBegin(before: 64, count: 64, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 1))
        #expect(!watch.needsNote, "what follows begins without another commit")
    }

    @Test func `An orderly end withdraws the try`() {
        var watch = owner(after: CrashNotes())
        watch.willBegin(before: 64, count: 64, at: Self.start)
        watch.noteOrderlyEnd()
        #expect(watch.notes.isEmpty)
    }

    @Test func `After a crash every step is noted`() {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willBegin(before: 10, count: 10, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 2, begun: 10))
        #expect(watch.needsNote)
        #expect(watch.permission(for: 3) == .runs)
    }

    @Test(arguments: [(records: 1024, seconds: 0), (records: 10, seconds: 30)])
    func `Small steps end after enough records or time`(_ enough: (records: Int, seconds: Int)) {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willBegin(before: Int64(enough.records), count: enough.records, at: Self.start)
        watch.review(position: 0, at: Self.start + .seconds(enough.seconds))
        #expect(!watch.isWatched)
        #expect(watch.notes == CrashNotes(tries: 1))
    }

    @Test func `Records that may overtake others are noted one by one`() {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willRead([5, 6], beside: [1], atMost: 256, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 2, running: [1, 5, 6]))
        watch.haveBegun([5, 6])
        watch.willBegin([9000], beside: [1, 5], atMost: 256, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 2, running: [1, 5, 9000]))
        watch.haveBegun([9000])
        // ";tries=2;running=5+2+8993" has 25 bytes.
        watch.willBegin([7], beside: [1, 5, 9000], atMost: 25, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 2, running: [5, 7, 9000]), "the oldest is the least suspect")
    }

    /// One task reads, and another one begins records that were read before.
    @Test func `Each task keeps the notes of the other one`() {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willRead([10, 11], beside: [1], atMost: 256, at: Self.start)
        watch.willBegin([5], beside: [1], atMost: 256, at: Self.start)
        #expect(watch.notes.running == [1, 5, 10, 11], "10 and 11 may be read as soon as a commit says so")

        watch.haveBegun([10, 11])
        watch.willRead([12], beside: [1], atMost: 256, at: Self.start)
        #expect(watch.notes.running == [1, 5, 12], "5 may begin as soon as a commit says so, and 10 and 11 wait")
        watch.haveBegun([5])
        watch.willBegin([10], beside: [5], atMost: 256, at: Self.start)
        #expect(watch.notes.running == [5, 10, 12])
    }

    /// If there is no room to list each of them.
    @Test func `Records that may overtake others are noted as a range`() {
        var watch = owner(after: CrashNotes(tries: 2, running: [40]))
        watch.willRead([5, 700, 90_000], beside: [1], atMost: 20, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 3, begun: 90_001))
        watch.haveBegun([5, 700, 90_000])
        watch.willBegin([5], beside: [], atMost: 20, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 3, begun: 90_001))
        let next = owner(after: watch.notes)
        #expect(next.permission(for: 5) == .runsAlone && next.permission(for: 90_000) == .runsAlone)
    }

    @Test func `Notes with the largest numbers fit their limit`() {
        let largest = CrashNotes(
            tries: 9999, begun: .max, suspect: .init(offset: .max, ends: 9999, isRunning: false))
        #expect(largest.bytes <= CrashNotes.bytesWithoutRunning)
        #expect(CrashNotes(suspect: largest.suspect).bytes <= CrashNotes.bytesOfSuspect)
    }

    /// A forged note, or 9,999 crashes in a row.
    @Test func `Counts of tries and crashes saturate`() {
        var watch = owner(
            after: CrashNotes(tries: .max, begun: .max, suspect: .init(offset: 4, ends: .max, isRunning: true)))
        watch.willBegin(before: 10, count: 10, at: Self.start)
        #expect(watch.notes.tries == 9999)
        #expect(watch.notes.suspect?.ends == 9999)
        #expect(watch.permission(for: 4) == .isSetAside)
    }

    @Test func `A record that is read twice is noted once`() {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willRead([6, 5, 6], beside: [], atMost: 256, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 2, running: [5, 6]), "a text with an offset twice would be foreign")
    }

    @Test func `Steps end after their time although no record begins`() {
        var watch = owner(after: CrashNotes(tries: 1))
        watch.willRead([5, 6], beside: [], atMost: 256, at: Self.start)
        watch.review(position: 0, at: Self.start + .seconds(30))
        #expect(!watch.isWatched)
        #expect(watch.notes == CrashNotes(tries: 1))
    }

    @Test func `A suspect far behind runs alone when it is read`() {
        var watch = owner(after: CrashNotes(tries: 2, running: [3, 5000]))
        #expect([2, 3, 4, 5000].map(watch.permission) == [.runs, .runsAlone, .runs, .runsAlone])

        watch.willRead([0, 1, 2], beside: [], atMost: 256, at: Self.start)
        #expect(watch.notes.running == [0, 1, 2, 3, 5000], "it stays under suspicion until it is read")
        watch.willRunAlone(3, at: Self.start)
        watch.hasRunAlone(3)
        watch.review(position: 4, at: Self.start)
        #expect(watch.isCareful, "one is still to come")

        watch.willRunAlone(5000, at: Self.start)
        watch.hasRunAlone(5000)
        watch.review(position: 4, at: Self.start)
        #expect(!watch.isCareful)
        #expect(watch.isWatched, "what comes next begins in small steps")
    }

    /// Another owner has answered it meanwhile, or compaction has removed it.
    @Test func `A suspect that does not come any more is forgotten`() {
        var watch = owner(after: CrashNotes(tries: 2, running: [3]))
        watch.willRead([4, 5], beside: [], atMost: 256, at: Self.start)
        watch.review(position: 4, at: Self.start)
        #expect(!watch.isCareful)
    }

    /// A lane without classes or tenants reads none of the listed records again.
    @Test func `A suspect before the committed offset is forgotten`() {
        var watch = owner(after: CrashNotes(tries: 2, running: [157]))
        watch.willBegin(before: 300, count: 10, at: Self.start)
        watch.review(position: 157, at: Self.start)
        #expect(watch.isCareful)

        watch.review(position: 300, at: Self.start)
        #expect(!watch.isCareful)
    }

    @Test func `After two crashes the begun records run alone`() {
        var watch = owner(after: CrashNotes(tries: 2, begun: 10))
        #expect(watch.permission(for: 9) == .runsAlone)
        #expect(watch.permission(for: 10) == .runs)

        watch.willRunAlone(4, at: Self.start)
        #expect(watch.notes == CrashNotes(tries: 3, begun: 10, suspect: .init(offset: 4, ends: 0, isRunning: true)))
        watch.hasRunAlone(4)
        #expect(watch.notes.suspect == nil)
    }

    /// A second record of the kind may follow the first.
    @Test(arguments: [(tries: 2, seconds: 5), (tries: 3, seconds: 10), (tries: 6, seconds: 80)])
    func `The time of running alone doubles after each further crash`(_ care: (tries: Int, seconds: Int)) {
        var watch = owner(after: CrashNotes(tries: care.tries, begun: 10))
        #expect(watch.careLeft == .seconds(care.seconds))
        #expect(watch.nextIsolation == .seconds(care.seconds / 5))
        watch.willRunAlone(3, at: Self.start)
        watch.spendCare(.seconds(care.seconds) - .milliseconds(1))
        #expect(watch.permission(for: 4) == .runsAlone)
        watch.spendCare(.milliseconds(1))
        #expect(watch.permission(for: 4) == .runs)
        #expect(watch.needsNote, "in small steps")

        watch.hasRunAlone(3)
        #expect(owner(after: watch.notes).careLeft == .seconds(2 * care.seconds), "if this process ends so too")
    }

    @Test func `A partition goes on behind slow requests after its time of running alone`() {
        var watch = owner(after: CrashNotes(tries: 2, begun: 10))
        watch.willRunAlone(3, at: Self.start)
        watch.review(position: 3, at: Self.start + .seconds(30))
        #expect(watch.isCareful, "records are still to run alone")

        watch.spendCare(.seconds(5))
        watch.review(position: 3, at: Self.start + .seconds(29))
        #expect(watch.isCareful)
        watch.review(position: 3, at: Self.start + .seconds(30))
        #expect(!watch.isCareful && watch.isWatched)
    }

    @Test func `Steps are small again after records that ran alone`() {
        var watch = owner(after: CrashNotes(tries: 2, begun: 10))
        watch.willRunAlone(9, at: Self.start)
        watch.hasRunAlone(9)
        watch.review(position: 10, at: Self.start)
        #expect(watch.isWatched)
        #expect(!watch.isCareful)
        #expect(watch.permission(for: 11) == .runs)
    }

    @Test func `A record is set aside after three crashes`() {
        let once = CrashNotes(tries: 3, begun: 10, suspect: .init(offset: 4, ends: 0, isRunning: true))
        var second = owner(after: once)
        #expect(second.permission(for: 4) == .runsAlone)

        second.willRunAlone(4, at: Self.start)
        #expect(second.notes.suspect == .init(offset: 4, ends: 1, isRunning: true))
        var third = owner(after: second.notes)
        #expect(third.permission(for: 4) == .runsAlone)

        third.willRunAlone(4, at: Self.start)
        #expect(third.notes.suspect == .init(offset: 4, ends: 2, isRunning: true))
        #expect(owner(after: third.notes).permission(for: 4) == .isSetAside)
    }

    @Test func `Only a record that was running at a crash is suspect`() {
        let running = CrashNotes(tries: 3, begun: 10, suspect: .init(offset: 4, ends: 0, isRunning: true))
        var watch = owner(after: running)
        #expect(watch.isSuspect(4) && !watch.isSuspect(5))
        watch.willRunAlone(4, at: Self.start)
        #expect(watch.isSuspect(4), "until it has ended")
        watch.hasRunAlone(4)
        #expect(!watch.isSuspect(4))

        let waiting = CrashNotes(tries: 2, begun: 10, suspect: .init(offset: 4, ends: 0, isRunning: false))
        #expect(!owner(after: waiting).isSuspect(4))
    }

    @Test func `A record that crashed its process is set aside at once`() {
        var watch = owner(after: CrashNotes(tries: 2, begun: 10))
        watch.willRunAlone(4, at: Self.start)
        let next = owner(after: watch.notes(ofCrashWith: 4))
        #expect(next.permission(for: 4) == .isSetAside)
        #expect(next.permission(for: 5) == .runsAlone)
    }

    /// Kills that have nothing to do with the records: a different record runs alone each time.
    @Test func `Crashes with different records are not added up`() {
        var watch = owner(after: CrashNotes(tries: 2, begun: 10))
        for offset in [Int64(4), 5, 6, 5] {
            watch.willRunAlone(offset, at: Self.start)
            watch = owner(after: watch.notes)
            #expect(watch.permission(for: offset) == .runsAlone)
        }
    }

    // MARK: - As text

    @Test(arguments: [
        CrashNotes(), CrashNotes(tries: 1), CrashNotes(tries: 2, begun: 164), CrashNotes(tries: 2, running: [9000]),
        CrashNotes(tries: 3, running: [0, 120, 157], suspect: .init(offset: 157, ends: 0, isRunning: true)),
        CrashNotes(tries: 3, begun: 164, suspect: .init(offset: 120, ends: 1, isRunning: true)),
        CrashNotes(tries: 3, begun: 0, suspect: .init(offset: 120, ends: 2, isRunning: false)),
    ])
    func `Notes are read as they were written`(_ notes: CrashNotes) throws {
        var metadata = CommitMetadata()
        metadata.crashes = notes
        let text = metadata.text(for: 100, atMost: 200).text
        if notes.isEmpty {
            #expect(text.isEmpty)
        } else {
            #expect(CommitMetadata.read(CommittedOffset(100, metadata: text)) == .known(metadata))
        }
    }

    @Test(arguments: [
        "tries=", "tries=-1", "tries=99999999999999999999", "begun=-1", "begun=x", "alone=1", "alone=1:", "alone=-1:2",
        "suspect=1:2:3", "suspect=1:-2", "running=", "running=-1", "running=3+0", "running=3+", "running=3+x",
        "running=9223372036854775807+1",
    ])
    func `Damaged notes are ignored`(_ field: String) {
        #expect(CommitMetadata.read(CommittedOffset(100, metadata: "locsearch1;at=100;\(field)")) == .foreign)
    }
}
