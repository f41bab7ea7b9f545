/// The header fields of a push (RFC 8030 §5), without the message.
package struct PushHeaders: Sendable, Equatable {
    /// The urgency of a push (§5.3).
    package enum Urgency: String, Sendable, CaseIterable {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// The maximum length of a topic, in characters (§5.4).
    package static let longestTopic = 32
    /// The value for seconds that do not fit, as in HTTP (RFC 9111 §1.2.2).
    private static let longestTTL: Int64 = 1 << 31

    /// The seconds for which a push service may keep the message (§5.2).
    ///
    /// 0 means now or never.
    package let ttl: Int64
    /// The topic.
    ///
    /// A push replaces an undelivered earlier push of the same topic.
    package let topic: String?
    package let urgency: Urgency

    /// - Parameter isBare: whether the push has no message, and so no content coding.
    init(_ fields: PushFields, isBare: Bool = false) throws(PushAnswer) {
        guard isBare || fields["content-encoding"].only?.lowercased() == "aes128gcm" else {
            throw .invalid("contentEncoding", "Content-Encoding must be sent once, as aes128gcm")
        }
        guard let ttl = fields["ttl"].only.flatMap(Self.ttl) else {
            throw .invalid("ttl", "TTL must be sent once, as a number of seconds in decimal digits")
        }
        self.ttl = ttl
        topic = try Self.topic(fields["topic"])
        urgency = try Self.urgency(fields["urgency"])
    }

    private static func ttl(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return min(Int64(text) ?? longestTTL, longestTTL)
    }

    private static func topic(_ values: [String]) throws(PushAnswer) -> String? {
        guard !values.isEmpty else { return nil }
        // A topic has the form of an authenticator's id, except for the maximum length.
        guard let topic = values.only, topic.utf8.count <= longestTopic, TokenID(topic) != nil else {
            throw .invalid("topic", "Topic must be sent once, as 1 to \(longestTopic) of A-Z a-z 0-9 _ -")
        }
        return topic
    }

    private static func urgency(_ values: [String]) throws(PushAnswer) -> Urgency {
        guard !values.isEmpty else { return .normal }
        guard let urgency = values.only.flatMap({ Urgency(exactly: $0.lowercased()) }) else {
            throw .invalid("urgency", "Urgency must be sent once, as very-low, low, normal or high")
        }
        return urgency
    }
}

extension [String] {
    /// The only element.
    ///
    /// `nil` if there are none or several.
    fileprivate var only: String? { count == 1 ? first : nil }
}

/// The header fields of a push as received, each value without the blanks around it.
package struct PushFields: Sendable {
    private let fields: [(name: String, value: String)]

    /// Creates the fields.
    ///
    /// The server must have limited their number and length.
    package init(_ fields: [(name: String, value: String)]) {
        self.fields = fields.map { (name: $0.name.lowercased(), value: $0.value) }
    }

    /// The values of all fields with this name, which must be in lower case.
    subscript(name: String) -> [String] {
        fields.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
    }
}
