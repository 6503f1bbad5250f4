/// Kafka's error codes, with the protocol's names and numbers, as far as the model answers with them.
package enum ErrorCode: Int16, Error, Sendable, CaseIterable {
    case unknownServerError = -1
    case none = 0
    case offsetOutOfRange = 1
    case unknownTopicOrPartition = 3
    case leaderNotAvailable = 5
    case notLeaderOrFollower = 6
    case requestTimedOut = 7
    case messageTooLarge = 10
    case offsetMetadataTooLarge = 12
    case coordinatorLoadInProgress = 14
    case coordinatorNotAvailable = 15
    case notCoordinator = 16
    case invalidTopicException = 17
    case recordListTooLarge = 18
    case notEnoughReplicas = 19
    case notEnoughReplicasAfterAppend = 20
    case invalidRequiredAcks = 21
    case illegalGeneration = 22
    case inconsistentGroupProtocol = 23
    case invalidGroupID = 24
    case unknownMemberID = 25
    case invalidSessionTimeout = 26
    case rebalanceInProgress = 27
    case topicAuthorizationFailed = 29
    case groupAuthorizationFailed = 30
    case clusterAuthorizationFailed = 31
    case invalidTimestamp = 32
    case unsupportedVersion = 35
    case topicAlreadyExists = 36
    case invalidPartitions = 37
    case invalidReplicationFactor = 38
    case invalidRequest = 42
    case policyViolation = 44
    case outOfOrderSequenceNumber = 45
    case duplicateSequenceNumber = 46
    case invalidProducerEpoch = 47
    case invalidTxnState = 48
    case invalidProducerIDMapping = 49
    case invalidTransactionTimeout = 50
    case concurrentTransactions = 51
    case transactionCoordinatorFenced = 52
    case transactionalIDAuthorizationFailed = 53
    case operationNotAttempted = 55
    case kafkaStorageError = 56
    case unknownProducerID = 59
    case groupIDNotFound = 69
    case fencedLeaderEpoch = 74
    case unknownLeaderEpoch = 75
    case memberIDRequired = 79
    case groupMaxSizeReached = 81
    case fencedInstanceID = 82
    case invalidRecord = 87
    case unstableOffsetCommit = 88
    case producerFenced = 90
    case unknownTopicID = 100
    case fencedMemberEpoch = 110
    case unreleasedInstanceID = 111
    case unsupportedAssignor = 112
    case staleMemberEpoch = 113
    case transactionAbortable = 120
}

extension ErrorCode {
    /// The protocol's name of the code, such as `ILLEGAL_GENERATION`.
    package var protocolName: String { Self.names[self] ?? "\(self)" }

    private static let names: [ErrorCode: String] = {
        // The protocol writes the words of a case in capitals, with underscores between them.
        let pairs = allCases.map { ($0, capitals("\($0)")) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    private static func capitals(_ words: String) -> String {
        var name = ""
        var previous: Character = "_"
        for letter in words.replacingID {
            if letter.isUppercase, !previous.isUppercase { name.append("_") }
            name.append(contentsOf: letter.uppercased())
            previous = letter
        }
        return name
    }
}

extension String {
    /// `ID` within a longer name is one word, also before another capital: `producerIDMapping`.
    fileprivate var replacingID: String {
        var result = ""
        var rest = Substring(self)
        while let letter = rest.first {
            if rest.hasPrefix("ID"), !result.isEmpty {
                result += "Id"
                rest = rest.dropFirst(2)
            } else {
                result.append(letter)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
