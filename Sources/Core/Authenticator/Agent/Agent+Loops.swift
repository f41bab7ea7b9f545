import Journal
import Records

extension Agent {
    /// Returns the agent's background loops, each of which runs until its task is cancelled.
    ///
    /// Later loops use earlier loops, so the later ones stop first.
    ///
    /// - Parameters:
    ///   - isPolling: whether the agent polls the issuers on its own.
    ///   - onStep: called after keys were tested.
    package func loops(
        isPolling: Bool, onStep: @escaping @Sendable (StartStep) -> Void = { _ in }
    ) -> [@Sendable () async throws -> Void] {
        [storeWatch.run, headWatch.run, rowWatch.run, provenTimeKeeper.run, periodicLook.run] + sharing
            + [afterOwnKeys(signCountWatch.run), outboxDelivery.run, registrationDelivery.run]
            + (isPolling ? [afterOwnKeys(fetcher.run)] : []) + [
                journalPruner.run, dataRetention.run, checkpointer.run, { try await self.keyWatch.run(onStep: onStep) },
                afterOwnKeys(pushSubscriber.run),
                fetcher.runPushed, expiryService.run, deferredReader.run,
                { try await self.workTally.count(in: self.ports.store, self.hub) },
            ] + (secretRotation.isDue ? [secretRotation.run] : [])
    }

    /// Delays a loop that works on every enrollment until the start no longer waits for the keys.
    private func afterOwnKeys(_ run: @escaping @Sendable () async throws -> Void) -> @Sendable () async throws -> Void {
        { [keyWatch] in
            try await keyWatch.untilOwnKeysAreSeen()
            try await run()
        }
    }

    /// The additional loops of a host that shares its store with other hosts.
    private var sharing: [@Sendable () async throws -> Void] {
        guard let shares = ports.shares else { return [] }
        return [{ [hub] in try await shares.keep { hub.publish(.sharesChanged) } }, neighbours.run, hostWitness.run]
    }
}
