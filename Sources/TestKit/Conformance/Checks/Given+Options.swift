package import IssuerProtocol
import TextAndTime
package import ThreeDS
import WebAuthn

// The values of options; each error names its option.
extension Given {
    package static func issuer(_ text: String, option: String) throws(GivenError) -> IssuerURL {
        do { return try IssuerURL(written: text) } catch { throw GivenError(.usage, "\(option): \(error.what)") }
    }

    /// Reads an origin, which has the form of an issuer's URL.
    package static func origin(_ text: String, option: String) throws(GivenError) -> String {
        try issuer(text, option: option).text
    }

    package static func tokenID(_ text: String, option: String) throws(GivenError) -> TokenID {
        guard let id = TokenID(text) else { throw GivenError(.usage, "\(option) must be 1 to 64 of A-Z a-z 0-9 _ -") }
        return id
    }

    package static func bytes(
        _ text: String, option: String, count: ClosedRange<Int> = 1...1_023
    ) throws(GivenError) -> [UInt8] {
        guard let bytes = Base64URL.decode(text), count.contains(bytes.count) else {
            let size = "\(count.lowerBound) to \(count.upperBound)"
            throw GivenError(.usage, "\(option) must be base64url without padding, of \(size) bytes")
        }
        return bytes
    }

    package static func seconds(_ text: String, option: String) throws(GivenError) -> Int64 {
        guard let seconds = Int64(text), seconds >= 0 else {
            throw GivenError(.usage, "\(option) must be a whole number of seconds since 1970")
        }
        return seconds
    }

    package static func signCount(_ text: String, option: String) throws(GivenError) -> UInt32 {
        guard let count = UInt32(text) else { throw GivenError(.usage, "\(option) must be 0 to \(UInt32.max)") }
        return count
    }

    package static func exponentPolicy(_ text: String, option: String) throws(GivenError) -> ExponentPolicy {
        try one(of: ExponentPolicy.allCases.map { ($0.rawValue, $0) }, text, option)
    }

    /// Returns whether an authenticator of this authnType can verify its user.
    package static func canVerifyUser(_ text: String, option: String) throws(GivenError) -> Bool {
        try one(of: [("pin", true), ("presence", false), ("test", true)], text, option)
    }

    package static func requiresUserVerification(_ text: String, option: String) throws(GivenError) -> Bool {
        try one(of: [("required", true), ("preferred", false), ("discouraged", false)], text, option)
    }

    private static func one<Value>(
        of values: [(name: String, value: Value)], _ text: String, _ option: String
    ) throws(GivenError) -> Value {
        guard let found = values.first(where: { $0.name == text }) else {
            let names = values.map(\.name)
            throw GivenError(.usage, "\(option): \(NearestName.advice(for: text, among: names))")
        }
        return found.value
    }
}
