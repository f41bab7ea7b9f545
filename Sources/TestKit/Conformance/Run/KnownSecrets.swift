import FoundationEssentials
import IssuerProtocol
import StrictJSON
import Synchronization

/// The codes, tokens and other secrets that a run has met.
///
/// Redaction has one rule: the *value* of each secret is removed from all reported text, at every place.
package final class KnownSecrets: Sendable {
    /// Members whose values are secrets in every body; `code` is left out, because problems have it too.
    private static let members = ["accessToken", "enrollmentCode", "auth", "pin", "link"].map { Array("\($0)\"".utf8) }
    /// The shortest secret, in bytes; a shorter one would be found in every text by chance.
    static let shortest = 3
    /// The longest secret, in bytes; no more than this is kept of a body, so a prefix is enough.
    private static let longest = Exchange.maxBody
    /// The limit of secrets learned from one body; the kit's own secrets do not count.
    private static let mostOfBody = 16
    /// The limit of secrets from bodies, in bytes; beyond it, the tested side's further secrets are not learned.
    private static let mostBytes = 4 * 1_048_576

    private struct State {
        var values: Set<[UInt8]> = []
        /// The bytes of the secrets from bodies.
        var bytes = 0
    }

    private let state = Mutex(State())

    package init() {}

    var bytesOfBodies: Int { state.withLock { $0.bytes } }

    /// Adds a secret that the kit has made or was given.
    package func add(_ value: String) {
        let bytes = Array(value.utf8.prefix(Self.longest))
        guard Self.isSecret(bytes) else { return }
        state.withLock { _ = $0.values.insert(bytes) }
    }

    /// Adds the secrets in a body by the names of their members, even if the body is not valid JSON.
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

    /// The redaction of the secrets known so far.
    package var redaction: Redaction { Redaction(state.withLock { $0.values }) }

    /// Returns false for a problem code of the protocol, or a part of one: cases are judged by these.
    private static func isSecret(_ value: [UInt8]) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        return (shortest...longest).contains(value.count)
            && !ProblemCode.allCases.contains { $0.rawValue.contains(text) }
    }

    /// Returns the string value after a member's name, or `nil` if there is none.
    ///
    /// An unterminated string is taken as far as it goes.
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
