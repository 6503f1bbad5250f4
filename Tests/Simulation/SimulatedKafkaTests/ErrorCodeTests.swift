import SimulatedKafka
import Testing

struct ErrorCodeTests {
    @Test(arguments: [
        (ErrorCode.none, "NONE"), (.unknownTopicOrPartition, "UNKNOWN_TOPIC_OR_PARTITION"),
        (.invalidProducerIDMapping, "INVALID_PRODUCER_ID_MAPPING"), (.unknownMemberID, "UNKNOWN_MEMBER_ID"),
        (.transactionalIDAuthorizationFailed, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        (.memberIDRequired, "MEMBER_ID_REQUIRED"), (.groupIDNotFound, "GROUP_ID_NOT_FOUND"),
    ])
    func `Names are those of the protocol`(code: ErrorCode, name: String) {
        #expect(code.protocolName == name)
        #expect(ErrorCode(protocolName: name) == code)
    }
}
