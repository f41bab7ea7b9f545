import TextAndTime

/// Which request a decision is about.
package enum RequestSelector: Sendable, Equatable {
    /// What stands in the path for the oldest pending request; never an id.
    package static let nextSegment = "next"

    /// The oldest pending one.
    case next
    case id(String)

    /// Takes what a person typed as an ID; the word `next` is no ID, so that it decides no other request.
    package init(id: String) throws(ControlError) {
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy(Base64URL.isCharacter) else {
            throw ControlError(.invalidArgument, "An ID has 1 to 64 characters of A-Z a-z 0-9 _ -.")
        }
        guard id != Self.nextSegment else {
            throw ControlError(.invalidArgument, "\"next\" is no ID: for the oldest pending request say --next.")
        }
        self = .id(id)
    }

    /// What a person typed; nil for the oldest pending one.
    package var id: String? {
        switch self {
        case .next: nil
        case .id(let id): id
        }
    }

    var segment: String { id ?? Self.nextSegment }
}
