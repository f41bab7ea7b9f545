import Control
import HummingbirdCore

/// Which requests are meant.
struct RequestQuery {
    /// How many rows there are unless said otherwise.
    static let usualLimit = 100
    static let mostRows = 1_000

    let all: Bool
    let limit: Int
    let enrollment: String?

    init(_ uri: URI) throws(ControlError) {
        let members = uri.queryParameters
        switch members["all"].map(String.init) {
        case nil, "false": all = false
        case "true": all = true
        default: throw ControlError(.invalidArgument, "all: must be true or false")
        }
        let text = members["limit"].map(String.init) ?? String(Self.usualLimit)
        guard let number = Int(text), (1...Self.mostRows).contains(number) else {
            throw ControlError(.invalidArgument, "limit: must be a whole number of 1 to \(Self.mostRows)")
        }
        limit = number
        enrollment = members["enrollment"].map(String.init)
    }
}
