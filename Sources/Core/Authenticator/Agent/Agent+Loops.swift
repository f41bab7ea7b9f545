import Journal
import Records

extension Agent {
    /// What runs while the agent lives, each until its task is cancelled.
    ///
    /// Later ones use earlier ones, so they stop first.
    ///
    /// - Parameters:
    ///   - isPolling: whether the agent asks issuers by itself whether there is something.
    ///   - onStep: called after keys were tested.
    package func loops(
        isPolling: Bool, onStep: @escaping @Sendable (StartStep) -> Void = { _ in }
    ) -> [@Sendable () async throws -> Void] {
        [storeWatch.run, headWatch.run, rowWatch.run, provenTimeKeeper.run, periodicLook.run] + sharing
            + [afterOwnKeys(signCountWatch.run), outboxDelivery.run, registrationDelivery.run]
            + (isPolling ? [afterOwnKeys(fetcher.run)] : []) + [
                journalPruner.run, housekeeper.run, checkpointer.run, { try await self.keyWatch.run(onStep: onStep) },
                afterOwnKeys(pushSubscriber.run),
                fetcher.runPushed, expiryService.run, deferredReader.run,
                { try await self.workTally.run(in: self.ports.store, self.hub) },
            ] + (secretRotation.isDue ? [secretRotation.run] : [])
    }

    /// What has to do with every enrollment, and begins when a start no longer waits for the keys.
    private func afterOwnKeys(_ run: @escaping @Sendable () async throws -> Void) -> @Sendable () async throws -> Void {
        { [keyWatch] in
            try await keyWatch.untilOwnKeysAreSeen()
            try await run()
        }
    }

    /// What a host does that shares its store with others.
    private var sharing: [@Sendable () async throws -> Void] {
        guard let shares = ports.shares else { return [] }
        return [{ [hub] in try await shares.run { hub.publish(.sharesChanged) } }, neighbours.run, hostWitness.run]
    }
}
