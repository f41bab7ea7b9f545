import FoundationEssentials
import IssuerProtocol
import StrictJSON
import Synchronization

/// The codes, tokens and other secrets that a run has met.
///
/// The one rule of redaction: the *value* of each of them is taken out of all that is reported, wherever it stands.
package final class KnownSecrets: Sendable {
    /// Members whose values are secrets, in whatever body; `code` is a problem's as well, so it is none of them.
    private static let members = ["accessToken", "enrollmentCode", "auth", "pin", "link"].map { Array("\($0)\"".utf8) }
    /// The fewest bytes of a secret that is looked for: a shorter one stands in every text by chance.
    static let shortest = 3
    /// Nothing longer is kept of a body, so of a longer one the beginning is enough.
    private static let longest = Exchange.maxBody
    /// The most secrets that are learned of one body; the kit's own come besides.
    private static let mostOfBody = 16
    /// The most bytes of what bodies hold; a tested side that sends more has only itself to blame.
    private static let mostBytes = 4 * 1_048_576

    private struct State {
        var values: Set<[UInt8]> = []
        /// Of those that bodies held.
        var bytes = 0
    }

    private let state = Mutex(State())

    package init() {}

    var bytesOfBodies: Int { state.withLock { $0.bytes } }

    /// Notes a secret that the kit has made or was given.
    package func add(_ value: String) {
        let bytes = Array(value.utf8.prefix(Self.longest))
        guard Self.isSecret(bytes) else { return }
        state.withLock { _ = $0.values.insert(bytes) }
    }

    /// Notes the secrets that stand in a body by the names of their members, also if the body is no JSON as a whole.
    func add(from body: [UInt8]) {
        var found: [[UInt8]] = []
        var at = body.startIndex
        while found.count < Self.mostOfBody, let quote = body[at...].firstIndex(of: UInt8(ascii: "\"")) {
            at = quote + 1
            guard let name = Self.members.first(where: { body[at...].starts(with: $0) }) else { continue }
            at += name.count
            if let value = Self.text(in: body[at...]) { found.append(value) }
        }
        guard !found.isEmpty else { return }
        state.withLock { state in
            for value in found
            where Self.isSecret(value) && state.bytes < Self.mostBytes && state.values.insert(value).inserted {
                state.bytes += value.count
            }
        }
    }

    /// The redaction of the secrets that are known by now.
    package var redaction: Redaction { Redaction(state.withLock { $0.values }) }

    /// A code of the protocol's problems, or a part of one, is no secret: it is what a case is judged by.
    private static func isSecret(_ value: [UInt8]) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        return (shortest...longest).contains(value.count)
            && !ProblemCode.allCases.contains { $0.rawValue.contains(text) }
    }

    /// The string that comes behind a member's name; `nil` if none does.
    ///
    /// A string that does not end is taken as it stands.
    private static func text(in rest: ArraySlice<UInt8>) -> [UInt8]? {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let behind = rest.drop(while: isSpace)
        guard behind.first == UInt8(ascii: ":") else { return nil }
        let literal = behind.dropFirst().drop(while: isSpace).prefix(longest)
        guard literal.first == UInt8(ascii: "\"") else { return nil }
        var end = literal.startIndex + 1
        while end < literal.endIndex, literal[end] != UInt8(ascii: "\"") {
            end += literal[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < literal.endIndex,
            case .string(let text)? = try? JSONReader.value(
                Array(literal[...end]), limits: JSONLimits(maxBytes: longest))
        else { return Array(literal.dropFirst().prefix { $0 != UInt8(ascii: "\"") }) }
        return Array(text.utf8)
    }
}
