import Basics
import SimulatedKafka
import SimulatedKafkaClients

/// Requests of transactional producers, and decoys in transactions that are aborted.
extension FleetWorld {
    /// Returns the partition for a request. If there is a topic for batch requests, these go to it.
    ///
    /// Half of the other requests use the partitions that were added to their topic later.
    func partition(of request: FleetPlan.Request) -> PartitionID {
        if let count = plan.mixture?.batchPartitions, request.requestClass == .batch {
            return PartitionID(SimulatedWorker.batchRequests, request.partition % count)
        }
        let count = partitions(of: SimulatedWorker.requests).count
        guard count > Int(plan.partitions), request.number.isMultiple(of: 2) else {
            return PartitionID(SimulatedWorker.requests, request.partition)
        }
        return PartitionID(SimulatedWorker.requests, Int32(request.number / 2 % count))
    }

    /// Writes a request in a transaction, after a decoy in another transaction that is aborted.
    func writeInTransaction(_ request: FleetPlan.Request, _ transaction: FleetPlan.RequestTransaction) {
        var decoy = request
        decoy.keyword = FleetPlan.abortedKeyword
        decoy.isValid = true
        run(decoy, transaction, as: "decoy-\(request.number)", .abort)
        run(request, transaction, as: "request-\(request.number)", .commit)
    }

    private func run(
        _ request: FleetPlan.Request, _ transaction: FleetPlan.RequestTransaction, as id: String,
        _ result: TransactionResult
    ) {
        let partition = partition(of: request)
        let record = RequestRecord.make(request, at: network.scheduler.now)
        var offset: Int64?
        var name: TransactionName?
        network.reach { cluster in
            let answer = cluster.initProducerID(InitProducerIDRequest(id))
            guard answer.error == .none else { return }
            let begun = TransactionName(id, answer.producer)
            let added = cluster.addPartitionsToTxn(AddPartitionsToTxnRequest(begun, [partition]))
            guard added.results[partition] == ErrorCode.none else { return }
            name = begun
            let batch = ProduceRequest.Batch(
                partition, [record], producer: answer.producer, baseSequence: 0, isTransactional: true)
            let written = cluster.produce(ProduceRequest([batch], transactionalID: id, acks: 1)).results.first
            if written?.error == ErrorCode.none { offset = written?.baseOffset }
        }

        guard let name else {
            return after(0.5) { [self] in run(request, transaction, as: id, result) }
        }
        guard let offset else {
            end(name, .abort)
            return after(0.5) { [self] in run(request, transaction, as: id, result) }
        }
        if result == .commit { note(request, at: partition, offset: offset) }
        after(transaction.seconds) { [self] in end(name, result) }
    }

    /// Ends a transaction, and repeats the request until the coordinator answers.
    private func end(_ name: TransactionName, _ result: TransactionResult) {
        network.reach { cluster in
            switch cluster.endTxn(EndTxnRequest(name, result)).error {
            case .none, .invalidProducerEpoch, .invalidTxnState: break
            default: after(0.1) { [self] in end(name, result) }
            }
        }
    }
}
