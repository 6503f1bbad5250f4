internal import Kafka
internal import SimulatedKafka

/// Membership of a KIP-848 group, based on heartbeats only.
extension SimulatedConsumer {
    func joinModern() {
        joinState = .joining
        generation = 0
        target = nil
        sendModernHeartbeat()
    }

    func sendModernHeartbeat() {
        guard joinState != .out, !isHeartbeatUnderway, !isLost, generation >= 0 else { return }
        isHeartbeatUnderway = true
        attempt += 1
        var request = ConsumerGroupHeartbeatRequest(settings.group, memberID: memberID, memberEpoch: generation)
        request.instanceID = settings.instanceID
        if generation == 0 || mustSayEverything {
            request.topics = topics
            request.rebalanceTimeout = settings.maxPollInterval
        }
        if generation == 0 {
            request.owned = []
        } else if mustReportOwned || mustSayEverything {
            // Partitions that the handler has not revoked yet still belong to the member, so that no other member gets them.
            request.owned = sources.keys.sorted()
        }
        (mustReportOwned, mustSayEverything) = (false, false)

        let (current, sent) = (attempt, request)
        link.askCoordinator(
            groupKey, .consumerGroupHeartbeat, within: 5 * ClusterRules.second,
            error: { (answer: ConsumerGroupHeartbeatResponse) in answer.error },
            { $2($0.consumerGroupHeartbeat(sent, at: $1)) }
        ) { [weak self] result in
            guard let self else { return }
            isHeartbeatUnderway = false
            guard current == attempt else { return }
            switch result {
            case .success(let answer): take(answer)
            case .failure(.code(let code)): take(modernError: code)
            case .failure: mustSayEverything = true
            }
        }
    }

    private func take(_ answer: ConsumerGroupHeartbeatResponse) {
        lastHeartbeat = now
        generation = answer.memberEpoch
        heartbeatInterval = min(settings.heartbeatInterval, answer.heartbeatInterval)
        if joinState == .joining { joinState = .steady }
        if let assignment = answer.assignment { target = Set(assignment) }
        if joinState == .steady { reconcile() }
    }

    private func take(modernError code: ErrorCode) {
        mustSayEverything = true
        switch code {
        case .unknownMemberID, .fencedMemberEpoch, .groupIDNotFound:
            generation = 0
            if sources.isEmpty, joinState != .answering { return joinState = .joining }
            loseEverything()
        case .fencedInstanceID, .unreleasedInstanceID, .unsupportedVersion, .groupAuthorizationFailed,
            .invalidRequest:
            failMembership(code)
        default: break
        }
    }

    /// Revokes partitions that are not in the target, then takes the new ones; the next heartbeat reports that.
    private func reconcile() {
        guard let target else { return }
        let gone = sources.keys.filter { !target.contains($0) }.sorted()
        guard gone.isEmpty else {
            return revoke(gone) { [weak self] in self?.finishReconciling() }
        }
        let added = target.filter { sources[$0] == nil && topics.contains($0.topic) }.sorted()
        guard !added.isEmpty else { return }
        assign(added) { [weak self] in self?.finishReconciling() }
    }

    private func finishReconciling() {
        joinState = .steady
        isRejoining = false
        mustReportOwned = true
        sendModernHeartbeat()
        reconcile()
    }

    func sendLeavingHeartbeat(then: @escaping () -> Void) {
        let epoch =
            settings.instanceID == nil
            ? ConsumerGroupHeartbeatRequest.leave : ConsumerGroupHeartbeatRequest.leaveForAWhile
        var request = ConsumerGroupHeartbeatRequest(settings.group, memberID: memberID, memberEpoch: epoch)
        request.instanceID = settings.instanceID
        let sent = request
        link.askCoordinator(
            groupKey, .consumerGroupHeartbeat, within: 5 * ClusterRules.second,
            error: { (answer: ConsumerGroupHeartbeatResponse) in answer.error },
            { $2($0.consumerGroupHeartbeat(sent, at: $1)) }, reply: { _ in then() })
    }
}
