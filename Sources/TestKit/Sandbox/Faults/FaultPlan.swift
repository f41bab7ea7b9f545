import StrictJSON

/// A fault planned for one call.
struct PlannedFault: Sendable {
    enum Effect: Sendable {
        case fault(Fault.Kind)
        case slow(Duration)
        case duplicate, reorder
        case relist(Relisting)
    }

    /// The limit of planned faults.
    static let maxPlanned = 10_000

    let point: FaultPoint
    let moment: Fault.Moment
    let effect: Effect
    /// The entry of the request, with its moment and without `times`.
    private let entry: JSONObject

    /// Returns JSON that ``plan(_:)`` would read as the same plan; equal faults in a row are one entry.
    static func list(_ plan: [PlannedFault]) -> JSONValue {
        var entries: [(entry: JSONObject, times: Int64)] = []
        for fault in plan {
            if let last = entries.last, last.entry == fault.entry {
                entries[entries.count - 1].times += 1
            } else {
                entries.append((fault.entry, 1))
            }
        }
        return .array(
            entries.map { each in
                var entry = each.entry
                entry["times"] = .integer(each.times)
                return .object(entry)
            })
    }

    /// Reads a plan, in order; a fault is repeated `times` times.
    ///
    /// The body is `{"next": [{"path", "status" or "kind", "moment"?, "times"?, "retryAfter"?, "milliseconds"?}]}`.
    static func plan(_ body: JSONObject) throws -> [PlannedFault] {
        var plan: [PlannedFault] = []
        for entry in try body.array("next", count: 0...1_000) {
            guard case .object(let entry) = entry else {
                throw SandboxError.badRequest("next: must be an array of objects")
            }
            let times = Int(try entry.optionalInteger("times", in: 1...Int64(maxPlanned)) ?? 1)
            guard plan.count + times <= maxPlanned else {
                throw SandboxError.badRequest("next: at most \(maxPlanned) failures")
            }
            plan += Array(repeating: try PlannedFault(entry), count: times)
        }
        return plan
    }

    private init(_ entry: JSONObject) throws {
        try entry.refuseMembers(
            except: ["path", "status", "kind", "moment", "times", "retryAfter", "milliseconds"])
        point = try entry.choice("path")
        guard (entry["status"] == nil) != (entry["kind"] == nil) else {
            throw SandboxError.badRequest("next: each needs a status or a kind, and not both")
        }
        let kind: Kind? = try entry.optionalChoice("kind")
        if let kind, kind.isOfLists, point != .fetch {
            throw SandboxError.badRequest("kind: \(kind.rawValue) goes with the path fetch only")
        }
        effect = try kind?.effect(entry) ?? .fault(Self.status(entry))
        let moments = kind?.moments ?? Fault.Moment.allCases
        moment = try entry.optionalChoice("moment") ?? moments[0]
        guard moments.contains(moment) else {
            throw SandboxError.badRequest("moment: must be \(moments[0].rawValue) for that kind")
        }
        self.entry = Self.entry(entry, moment)
    }

    /// Copies the entry; `null` members count as absent.
    private static func entry(_ given: JSONObject, _ moment: Fault.Moment) -> JSONObject {
        var entry: JSONObject = [:]
        for name in ["path", "status", "kind", "retryAfter", "milliseconds"] {
            if let value = given[name], value != .null { entry[name] = value }
        }
        entry["moment"] = .string(moment.rawValue)
        return entry
    }

    private static func status(_ entry: JSONObject) throws -> Fault.Kind {
        .status(
            Int(try entry.integer("status", in: 300...599)),
            retryAfter: try entry.optionalInteger("retryAfter", in: 0...86_400))
    }
}

/// The kinds that are not an HTTP status, under their names in `--faults`.
private enum Kind: String, CaseIterable {
    case slow, drop, garbage, truncated, endless, duplicate, reorder
    case fullList = "full-list"
    case fullListMoving = "full-list-moving"

    var isOfLists: Bool { [.duplicate, .reorder, .fullList, .fullListMoving].contains(self) }

    /// The moments that the kind allows, the default first.
    var moments: [Fault.Moment] {
        switch self {
        case .slow, .drop, .garbage: [.before, .after]
        case .truncated, .endless, .duplicate, .reorder: [.after]
        case .fullList, .fullListMoving: [.before]
        }
    }

    func effect(_ entry: JSONObject) throws -> PlannedFault.Effect {
        switch self {
        case .slow: .slow(.milliseconds(try entry.integer("milliseconds", in: 1...60_000)))
        case .drop: .fault(.drop)
        // Never UTF-8: 0xFF never occurs in it (RFC 3629 §3).
        case .garbage: .fault(.garbage([0xFF, 0x7B]))
        case .truncated: .fault(.truncated)
        case .endless: .fault(.endless)
        case .duplicate: .duplicate
        case .reorder: .reorder
        case .fullList: .relist(.cursorStays)
        case .fullListMoving: .relist(.cursorMoves)
        }
    }
}
