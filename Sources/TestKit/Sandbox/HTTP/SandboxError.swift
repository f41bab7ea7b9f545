import IssuerProtocol
import StrictJSON
import TextAndTime

/// An error that is answered with a problem (RFC 9457).
struct SandboxError: Error, Equatable {
    let status: Int
    /// A code of the issuer protocol, or `nil` if there is none for the error.
    ///
    /// Without a code, a client may repeat the call, or a person has to read the detail.
    let code: ProblemCode?
    let detail: String
    /// Seconds after which a client may try again.
    var retryAfter: Int64?
    /// The Erro with which a party of EMV 3-D Secure would answer.
    var erro: JSONObject?

    /// Returns an error that the issuer protocol lists, with the status of its code.
    static func listed(_ code: ProblemCode, _ detail: String) -> SandboxError {
        SandboxError(status: code.status, code: code, detail: detail)
    }

    /// Returns the error for a wrong call to the sandbox's own paths.
    ///
    /// The detail says what is wrong, where, and what is allowed.
    static func badRequest(_ detail: String, erro: JSONObject? = nil) -> SandboxError {
        SandboxError(status: 400, code: nil, detail: detail, erro: erro)
    }

    static func notFound(_ detail: String) -> SandboxError {
        SandboxError(status: 404, code: nil, detail: detail)
    }

    static func conflict(_ detail: String) -> SandboxError {
        SandboxError(status: 409, code: nil, detail: detail)
    }

    static let tooManyWaiters = SandboxError(
        status: 503, code: nil, detail: "too many calls wait already", retryAfter: 1)
}

extension JSONObject {
    /// Reads a string member that must be one of an enumeration's raw values.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, as type: Choice.Type = Choice.self
    ) throws -> Choice where Choice.RawValue == String {
        let text = try string(name, bytes: 0...256)
        guard let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else {
            let names = Choice.allCases.map(\.rawValue)
            let meant = NearestName.of(text, among: names).map { "; did you mean \($0)?" } ?? ""
            throw SandboxError.badRequest("\(name): must be one of \(names.joined(separator: ", "))\(meant)")
        }
        return choice
    }

    func optionalChoice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, as type: Choice.Type = Choice.self
    ) throws -> Choice? where Choice.RawValue == String {
        guard let value = self[name], value != .null else { return nil }
        return try choice(name)
    }

    /// Throws if the object has an unknown member.
    func refuseMembers(except known: Set<String>) throws {
        for member in members where !known.contains(member.name) {
            let advice = NearestName.advice(for: member.name, among: known.sorted())
            throw SandboxError.badRequest("\(DisplayText(member.name).text): no such member; \(advice)")
        }
    }
}
