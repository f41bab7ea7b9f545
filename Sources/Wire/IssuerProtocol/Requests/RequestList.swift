package import StrictJSON

/// The answer to a fetch: messages, oldest first, and the cursor for the next fetch.
package struct RequestList: Sendable, Equatable {
    /// The maximum size of such an answer that is read: 2 MiB.
    package static let maxBytes = 2_097_152
    /// The maximum number of requests in one answer.
    package static let limit = 100

    /// At most 100 messages as received.
    ///
    /// An invalid message does not affect the others.
    package let requests: [String]
    /// An opaque cursor of 1 to 256 characters (Unicode scalars).
    package let cursor: String
    /// The answer's share of the byte budget.
    private var room = KeptRoom()

    package init(requests: [String], cursor: String) {
        self.requests = requests
        self.cursor = cursor
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        let limits = JSONLimits(maxBytes: Self.maxBytes)
        self = try ProtocolError.readingObject("request list", in: bytes, limits: limits) { object in
            try RequestList(json: object)
        }
    }

    init(json: JSONObject) throws(JSONMemberError) {
        var requests: [String] = []
        for element in try json.array("requests", count: 0...Self.limit) {
            guard case .string(let jws) = element else {
                throw JSONMemberError(path: "/requests", problem: "must hold strings only")
            }
            requests.append(jws)
        }
        self.init(requests: requests, cursor: try json.cursor("cursor"))
    }

    package var json: JSONObject {
        ["requests": .array(requests.map { .string($0) }), "cursor": .string(cursor)]
    }
}

/// A value that lives as long as a list, such as a share of the byte budget.
///
/// Comparisons ignore it.
private struct KeptRoom: Sendable, Equatable {
    var room: (any Sendable)?

    static func == (one: KeptRoom, other: KeptRoom) -> Bool { true }
}

extension RequestList {
    /// Returns a copy that keeps the answer's share of the byte budget until its last copy is gone.
    package func keeping(_ room: (any Sendable)?) -> RequestList {
        var list = self
        list.room.room = room
        return list
    }
}

extension BatchFetchAnswer {
    /// Returns a copy in which each list keeps the answer's share until its last copy is gone.
    package func keeping(_ room: (any Sendable)?) -> BatchFetchAnswer {
        BatchFetchAnswer(
            results: results.map { result in
                guard case .list(let list) = result.outcome else { return result }
                return Result(authenticatorId: result.authenticatorId, outcome: .list(list.keeping(room)))
            })
    }
}
