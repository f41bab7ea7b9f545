import StrictJSON
import Synchronization

/// The calls of the issuer protocol that can be made to fail.
package enum FaultPoint: String, Sendable, CaseIterable {
    case discovery, jwks, enrollmentOptions, enroll, authenticator, unenroll, fetch, decision
}

/// One planned failure.
package struct Fault: Sendable, Equatable {
    package enum Moment: String, Sendable, CaseIterable {
        /// The call has no effect.
        case before
        /// The call has its effect, and the answer is lost.
        case after
    }

    package let point: FaultPoint
    /// The HTTP status that is answered, with a body that is no problem of the protocol's.
    package let status: Int
    package let moment: Moment
    /// Seconds.
    package let retryAfter: Int64?
}

/// The failures to come, in order, for each call.
package final class Faults: Sendable {
    private let planned = Mutex<[Fault]>([])
    private static let maxPlanned = 10_000

    package init() {}

    /// Takes the next fault of that call at that moment, if one is planned.
    func take(_ point: FaultPoint, _ moment: Fault.Moment) -> Fault? {
        planned.withLock { planned in
            guard let index = planned.firstIndex(where: { $0.point == point }), planned[index].moment == moment
            else { return nil }
            return planned.remove(at: index)
        }
    }

    /// Reads `{"next": [{"path", "status", "times"?, "retryAfter"?, "moment"?}]}` and plans what it says.
    ///
    /// Returns how many failures are planned now.
    func plan(_ body: JSONObject) throws -> Int {
        var faults: [Fault] = []
        for case .object(let entry) in try Self.entries(body) {
            let (fault, times) = try Self.read(entry)
            guard faults.count + times <= Self.maxPlanned else {
                throw SandboxRefusal.badRequest("next: at most \(Self.maxPlanned) failures")
            }
            faults += Array(repeating: fault, count: times)
        }
        return try planned.withLock { planned in
            guard planned.count + faults.count <= Self.maxPlanned else {
                throw SandboxRefusal.badRequest("next: at most \(Self.maxPlanned) failures at a time")
            }
            planned += faults
            return planned.count
        }
    }

    private static func entries(_ body: JSONObject) throws -> [JSONValue] {
        let entries = try body.array("next", count: 0...1_000)
        guard entries.allSatisfy({ if case .object = $0 { true } else { false } }) else {
            throw SandboxRefusal.badRequest("next: must be an array of objects")
        }
        return entries
    }

    private static func read(_ entry: JSONObject) throws -> (Fault, times: Int) {
        let point: FaultPoint = try entry.choice("path")
        let fault = Fault(
            point: point,
            status: Int(try entry.integer("status", in: 300...599)),
            moment: try entry.optionalChoice("moment") ?? .before,
            retryAfter: try entry.optionalInteger("retryAfter", in: 0...86_400))
        return (fault, Int(try entry.optionalInteger("times", in: 1...10_000) ?? 1))
    }
}
