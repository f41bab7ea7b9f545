import Control
import HTTPTypes
import HummingbirdCore

// Checks before a call's body is read.
extension ControlRoute {
    /// Refuses what this call does not support: the type of the answer, the type of the body, or a name in the query.
    func expectSupported(_ request: Request) throws(ControlError) {
        if let accept = request.headers[.accept], !MediaRanges(accept).include(MediaRanges.type(of: mediaType)) {
            throw ControlError(.notAcceptable, "accept: this call answers with \(mediaType)")
        }
        let isJSON = request.headers[.contentType].map { MediaRanges.type(of: $0) == "application/json" } ?? true
        guard isJSON || method == "GET" else {
            throw ControlError(.notJSON, "content-type: a body must be application/json")
        }
        try checkQuery(of: request.uri)
    }

    private func checkQuery(of uri: URI) throws(ControlError) {
        let names = uri.queryParameters.map { String($0.key) }
        for (position, name) in names.enumerated() {
            guard parameters.contains(name) else {
                let allowed =
                    parameters.isEmpty ? "this call takes none" : "allowed are " + parameters.joined(separator: ", ")
                throw ControlError(.invalidArgument, "the query has a name that is not known; \(allowed)")
            }
            guard !names[..<position].contains(name) else {
                throw ControlError(.invalidArgument, "\(name): is given twice in the query")
            }
        }
    }
}

/// The field `accept` (RFC 9110 §12.5.1): the types that a client accepts.
///
/// Its preferences are ignored, except a weight of 0.
struct MediaRanges {
    private let ranges: [(type: String, isExcluded: Bool)]

    init(_ field: String) {
        ranges = field.split(separator: ",").map(String.init).map { (Self.type(of: $0), Self.isExcluded($0)) }
    }

    /// Type and subtype, in lower case.
    static func type(of value: String) -> String { trimmed(value.prefix { $0 != ";" }).lowercased() }

    func include(_ type: String) -> Bool {
        let family = String(type.prefix { $0 != "/" }) + "/*"
        // The most specific range decides.
        for candidate in [type, family, "*/*"] {
            let named = ranges.filter { $0.type == candidate }
            if !named.isEmpty { return named.contains { !$0.isExcluded } }
        }
        return false
    }

    /// A weight of 0 means "not acceptable".
    private static func isExcluded(_ range: String) -> Bool {
        range.split(separator: ";").dropFirst().contains { parameter in
            let weight = trimmed(parameter).lowercased()
            return weight.hasPrefix("q=0") && weight.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let rest = text.utf8.drop(while: isSpace)
        guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(Substring(rest[...last]))
    }
}
