package import StrictJSON

/// What a fetch brings: messages, oldest first, and where the next fetch goes on.
package struct RequestList: Sendable, Equatable {
    /// The most that is read of such an answer: 2 MiB.
    package static let maxBytes = 2_097_152
    /// The most requests of one answer.
    package static let limit = 100

    /// At most 100, each as it came: one that is out of order leaves the others untouched.
    package let requests: [String]
    /// Opaque, 1 to 256 characters (Unicode scalars).
    package let cursor: String
    /// The room in memory that the answer takes.
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

/// A thing that is kept as long as a list is, such as the room that it takes; values are equal without it.
private struct KeptRoom: Sendable, Equatable {
    var room: (any Sendable)?

    static func == (one: KeptRoom, other: KeptRoom) -> Bool { true }
}

extension RequestList {
    /// The same list, which keeps the room of its answer until its last copy is gone.
    package func keeping(_ room: (any Sendable)?) -> RequestList {
        var list = self
        list.room.room = room
        return list
    }
}

extension BatchFetchAnswer {
    /// The same answer, each list of which keeps its room until the last copy is gone.
    package func keeping(_ room: (any Sendable)?) -> BatchFetchAnswer {
        BatchFetchAnswer(
            results: results.map { result in
                guard case .list(let list) = result.outcome else { return result }
                return Result(authenticatorId: result.authenticatorId, outcome: .list(list.keeping(room)))
            })
    }
}
