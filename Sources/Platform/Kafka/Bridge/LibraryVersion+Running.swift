internal import CRdkafka

extension LibraryVersion {
    /// The library that this process has loaded.
    public static var running: LibraryVersion { LibraryVersion(number: rd_kafka_version()) }
}
