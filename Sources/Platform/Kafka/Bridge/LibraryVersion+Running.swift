internal import CRdkafka

extension LibraryVersion {
    /// The librdkafka version loaded by this process.
    public static var running: LibraryVersion { LibraryVersion(number: rd_kafka_version()) }
}
