import Authenticator
import Glibc
import IssuerProtocol
import Journal
import Keys
import Records
import Synchronization
import TextAndTime

/// A fetch: finds a request, asks the payer about it, and carries out the answer.
struct Fetching: Sendable {
    /// Limit of pending requests that are read.
    private static let maxPending = 1_000

    let core: Core
    let host: Host
    let authn: D1Authn

    func fetch() async throws {
        let request = try await nextRequest()
        let isFirst = core.asked.begin(request.id)
        defer { if isFirst { core.asked.remove(request.id) } }
        switch try await Question(agent: host.agent, request: request, authn: authn).answer() {
        case .proceed: try await approve(request)
        case .cancel:
            // A duplicate's cancel ends only the duplicate: the payer can still answer the open question.
            if isFirst { try await deny(request) }
            throw D1Error(.cancelled, "cancelled", isFirst ? "the payer denied it" : "a duplicate was cancelled")
        }
    }

    /// The oldest request without an open question, or else the oldest request.
    private func nextRequest() async throws -> RequestRecord {
        let enrollment = try await enrollment()
        let failure = try await host.agent.fetch(enrollment.id).first
        // The issuer may just have answered that it no longer knows the enrollment.
        _ = try await self.enrollment()
        let pending = try await host.agent.requests(
            pendingOnly: true, enrollment: enrollment.id, limit: Self.maxPending
        ).filter { !$0.isDamaged }
        if let request = pending.first(where: { !core.asked.contains($0.id) }) ?? pending.first { return request }
        guard let reason = failure?.reason else { throw D1Error(.authn, "noRequest", "no authn request is pending") }
        throw D1Error(.authn, "issuerUnreachable", "the issuer \(host.setup.target.issuer.text): \(reason)")
    }

    private func enrollment() async throws -> Enrollment {
        guard let enrollment = try await host.agent.active(at: host.setup.target.issuer) else {
            throw D1Error(.authnNotEnrolled, "notEnrolled", "there is no active enrollment at this issuer")
        }
        return enrollment
    }

    private func approve(_ request: RequestRecord) async throws {
        let pin = try await host.pin(authn)
        switch try await decide(.approve, on: request, pin: pin) {
        case .delivered(.authenticated): return
        case .delivered(.notAuthenticated): throw Self.notTaken("transStatus N")
        case .failed(let token): throw Self.notTaken(token)
        case .none, .queued:
            throw D1Error(
                .authn, "notDelivered", "it is approved and kept, and goes to the issuer as soon as that answers")
        }
    }

    private static func notTaken(_ answer: String) -> D1Error {
        D1Error(.authn, "notTaken", "it was approved, but the issuer did not take it: \(answer)")
    }

    private func deny(_ request: RequestRecord) async throws {
        _ = try await decide(.deny(.userDenied), on: request, pin: nil)
    }

    /// Decides, even if the caller is cancelled meanwhile, and waits a limited time for the issuer's answer.
    private func decide(
        _ decision: RequestLife.Decision, on request: RequestRecord, pin: PIN?
    ) async throws -> DeliveryState {
        let agent = host.agent
        let decided = try await core.tasks.shield {
            try await agent.decide(
                decision, on: request.id, expecting: Expectations(), by: .app(.own), pin: pin)
        }
        do {
            return try await agent.delivered(decided, seconds: host.setup.deliverySeconds).life.delivery
        } catch is CancellationError {
            // The caller no longer waits for the issuer's answer. The decision is durable all the same.
            return decided.life.delivery
        }
    }
}

/// The requests with an open question to the payer.
final class AskedRequests: Sendable {
    private let ids = Mutex<Set<RequestID>>([])

    /// - Returns: `false` if a question about the request is open already.
    func begin(_ id: RequestID) -> Bool { ids.withLock { $0.insert(id).inserted } }

    func remove(_ id: RequestID) { ids.withLock { _ = $0.remove(id) } }

    func contains(_ id: RequestID) -> Bool { ids.withLock { $0.contains(id) } }
}

extension AppProcess {
    /// This process.
    fileprivate static var own: AppProcess {
        let name = CommandLine.arguments.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
        return AppProcess(uid: geteuid(), pid: getpid(), process: DisplayText(name.beginning(bytes: 64)).text)
    }
}
