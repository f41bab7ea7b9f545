import Journal
import Records
import Synchronization

/// What was seen of an agent across its restarts, for what must hold over time.
struct Record: Sendable {
    private var bodies: [Model.Call: [UInt8]] = [:]
    private var signCounts: [Model.Call: UInt32] = [:]
    private var effects: Set<Model.Call> = []
    private var last: [Int: UInt32] = [:]

    /// True for a decision that is seen for the first time.
    mutating func isNew(_ call: Model.Call, _ body: [UInt8]) throws -> Bool {
        guard bodies[call] == nil else {
            try check(body, of: call)
            return false
        }
        bodies[call] = body
        return true
    }

    func check(_ body: [UInt8], of call: Model.Call) throws {
        if bodies[call] != body { throw Finding("the decision on jti \(call.jti) changed its bytes") }
    }

    /// Keeps the signCount of a new approval, which must be above all before it.
    mutating func note(_ signCount: UInt32, of call: Model.Call) throws {
        guard signCount > last[call.card] ?? 0 else {
            throw Finding("jti \(call.jti) has signCount \(signCount), and \(last[call.card] ?? 0) was used before")
        }
        last[call.card] = signCount
        signCounts[call] = signCount
    }

    /// Nil for a deny.
    func signCount(of call: Model.Call) -> UInt32? { signCounts[call] }

    func lastSignCount(of card: Int) -> UInt32 { last[card] ?? 0 }

    /// Whether the issuer takes it for the first time; a repeat changes nothing there.
    mutating func isFirstEffect(of call: Model.Call) -> Bool { effects.insert(call).inserted }
}

/// Which requests were offered to approvers, by the events that say so.
final class Presented: Sendable {
    private let times = Mutex<[RequestID: Int]>([:])

    /// Listens for as long as the stream is kept.
    func listen(to hub: EventHub) -> EventNotifier {
        hub.notifier { [self] event in
            if case .journaled(.presented, _, let id?) = event { times.withLock { $0[id, default: 0] += 1 } }
            return false
        }
    }

    /// The request that was presented more than once.
    var twice: RequestID? { times.withLock { $0.first { $0.value > 1 }?.key } }

    var all: Set<RequestID> { times.withLock { Set($0.keys) } }
}
