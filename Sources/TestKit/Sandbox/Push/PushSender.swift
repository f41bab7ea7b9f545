import IssuerProtocol
import Logging
package import NIOSSL
import ServiceLifecycle

/// Sends the queued pushes in the background, without delaying calls.
package struct PushSender: Service {
    /// Seconds between attempts if the database fails.
    private static let pause: Int64 = 5

    private let backend: IssuerBackend
    private let queue: PushQueue
    private let tls: TLSConfiguration
    private let limits: PushLimits

    package init(
        backend: IssuerBackend, tls: TLSConfiguration = PushTransport.trusting(nil),
        limits: PushLimits = .standard
    ) {
        self.backend = backend
        self.tls = tls
        self.limits = limits
        queue = PushQueue(backend: backend)
    }

    /// Sends until the process is asked to stop; interrupted pushes are sent again after the next start.
    package func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await PushTransport.withTransport(with: tls, limits: limits) { transport in
                try await queue.resume()
                await withDiscardingTaskGroup { group in
                    while let taken = await next() { group.addTask { await send(taken, by: transport) } }
                    group.cancelAll()
                }
            }
        }
    }

    /// Sends the pushes that are due now, one after the other, and returns.
    package func sendDue() async throws {
        try await PushTransport.withTransport(with: tls, limits: limits) { transport in
            while let taken = try await queue.next() { await send(taken, by: transport) }
        }
    }

    /// Waits for the next push that is due, or returns `nil` when the task is cancelled.
    private func next() async -> PushQueue.Taken? {
        while !Task.isCancelled {
            do {
                let seconds = try await queue.secondsToNext()
                let taken = try await backend.notifier.firstValue(about: [.pushes], within: seconds, look: queue.next)
                if let taken { return taken }
            } catch  where !Task.isCancelled {
                backend.logger.error("the queue of pushes cannot be read", metadata: ["error": "\(error)"])
                try? await backend.dependencies.sleep(.seconds(Self.pause))
            } catch {}
        }
        return nil
    }

    private func send(_ taken: PushQueue.Taken, by transport: PushTransport) async {
        let outcome = await outcome(of: taken, by: transport)
        do {
            try await queue.record(outcome, of: taken)
        } catch  where !Task.isCancelled {
            // The push stays in state `sending` until the next start, which sends it again.
            backend.logger.error("what came of a push cannot be written down", metadata: ["error": "\(error)"])
        } catch {}
        backend.notifier.notify(.pushes)
    }

    private func outcome(of taken: PushQueue.Taken, by transport: PushTransport) async -> PushOutcome {
        let now = backend.now
        guard now < taken.push.exp else { return .notSent(.expired) }
        guard let subscription = taken.subscription else { return .notSent(.noSubscription) }
        guard backend.pushPolicy.allows(subscription.endpoint) else { return .notSent(.notAllowed) }
        do {
            let letter = try PushLetter(
                taken.push.plain, to: subscription, ttl: taken.push.exp - now, signer: backend.signer, now: now)
            let outcome = await transport.post(letter, now: now)
            if outcome == .notSent(.noSubjectAltName) {
                backend.logger.warning(
                    "a push was not sent: the receiver's certificate has no subjectAltName; put its host name there, as a name in CN alone does not count",
                    metadata: ["authenticator": "\(taken.push.authenticatorId)"])
            }
            return outcome
        } catch {
            backend.logger.error("a push cannot be encrypted", metadata: ["error": "\(error)"])
            return .notSent(.cannotEncrypt)
        }
    }
}
