package import StrictJSON

/// What a fetch brings: messages, oldest first, and where the next fetch goes on.
package struct RequestList: Sendable, Equatable {
    /// The most that is read of such an answer: 2 MiB.
    package static let maxOctets = 2_097_152

    /// At most 100, each as it came: one that is out of order leaves the others untouched.
    package let requests: [String]
    /// Opaque, 1 to 256 characters (Unicode scalars).
    package let cursor: String

    package init(requests: [String], cursor: String) {
        self.requests = requests
        self.cursor = cursor
    }

    package init(octets: [UInt8]) throws(ProtocolError) {
        let limits = JSONLimits(maxOctets: Self.maxOctets)
        self = try ProtocolError.readingObject("request list", octets, limits: limits) { object in
            let requests = try object.array("requests", count: 0...100).map { element in
                guard case .string(let jws) = element else {
                    throw JSONMemberError(path: "/requests", problem: "must hold strings only")
                }
                return jws
            }
            let cursor = try object.string("cursor", octets: 1...1_024)
            guard cursor.unicodeScalars.count <= 256 else {
                throw JSONMemberError(path: "/cursor", problem: "must have at most 256 characters")
            }
            return RequestList(requests: requests, cursor: cursor)
        }
    }

    package var json: JSONObject {
        ["requests": .array(requests.map { .string($0) }), "cursor": .string(cursor)]
    }
}
