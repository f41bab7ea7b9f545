extension Agent {
    /// What runs while the agent lives, each until its task is cancelled; later ones use earlier ones, so they stop first.
    ///
    /// - Parameter isPolling: whether the agent asks issuers by itself whether there is something.
    package func loops(isPolling: Bool) -> [@Sendable () async throws -> Void] {
        [bookWatch.run, signCountWatch.run, courier.run, ceremonies.run] + (isPolling ? [fetcher.run] : []) + [
            journalPruner.run, housekeeper.run, keyWatch.run, pushSubscriber.run, pushHints.run, timekeeper.run,
        ]
    }
}
