import Console
import EventContract

extension DeadLetterList.Letter {
    init(_ letter: DeadLetterSummary) {
        self.init(
            position: DeadLetterList.Position(partition: letter.mark.partition, offset: letter.mark.offset),
            reason: letter.reason, message: letter.message, member: letter.member, producer: letter.producer,
            source: letter.source, time: letter.time,
            valueHead: String((letter.valueHead?.text ?? "").prefix(DeadLetterSummary.Head.mostBytes)),
            isRedriven: letter.isRedriven, isWithoutContent: letter.isWithoutContent, isOutcome: letter.isOutcome,
            crashesWorkers: letter.crashesWorkers, fault: letter.fault)
    }
}

extension DeadLetterList.Group {
    init(_ kind: DeadLetterGroups.Kind, _ count: DeadLetterGroups.Count) {
        self.init(
            reason: kind.reason, member: kind.member, producer: kind.producer, letters: count.letters,
            pending: count.pending, faulty: count.faulty, oldest: count.oldest, newest: count.newest)
    }
}
