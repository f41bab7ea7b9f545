import TextAndTime

/// The request that a decision applies to.
package enum RequestSelector: Sendable, Equatable {
    /// The path segment for the oldest pending request.
    ///
    /// It is never an id.
    package static let nextSegment = "next"

    /// The oldest pending request.
    case next
    case id(String)

    /// Parses an ID that a person typed, and refuses the word `next`, so that it never decides another request.
    package init(id: String) throws(ControlError) {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy(Base64URL.isCharacter) else {
            throw ControlError(.invalidArgument, "An ID has 1 to 64 characters of A-Z a-z 0-9 _ -.")
        }
        guard id != Self.nextSegment else {
            throw ControlError(.invalidArgument, "\"next\" is no ID: for the oldest pending request say --next.")
        }
        self = .id(id)
    }

    /// The ID that a person typed.
    ///
    /// `nil` for the oldest pending request.
    package var id: String? {
        switch self {
        case .next: nil
        case .id(let id): id
        }
    }

    var segment: String { id ?? Self.nextSegment }
}
