import ArgumentParser
import Sandbox
import ThreeDS

/// The flags that set the members of the sandbox's calls.
enum FlagNames {
    private static let flags = [
        "acsTransId": "--acs-trans-id", "appendTransID": "--append-trans-id",
        "assertion": "--assertion", "attestation": "--attestation",
        "authenticatorId": "--authenticator-id", "emv": "--emv", "expiresIn": "--expires-in",
        "instrument/displayName": "--instrument-name", "instrument/icon": "--instrument-icon",
        "merchantName": "--merchant", "payeeOrigin": "--payee-origin",
        "purchaseAmount": "--amount", "purchaseCurrency": "--currency", "purchaseDate": "--date",
        "purchaseExponent": "--exponent", "push": "--push", "threeDSRequestorAppURL": "--app-url",
        "traceparent": "--traceparent", "userVerification": "--user-verification",
    ]

    /// Replaces the member at the start of a sentence, such as `/expiresIn must be …`, with its flag.
    static func inPlace(of sentence: String) -> String {
        let start = sentence.hasPrefix("/") ? sentence.dropFirst() : sentence[...]
        let name = start.prefix { $0 != " " && $0 != ":" }
        if name.hasPrefix("emv/") { return "--emv " + start.dropFirst("emv/".count) }
        guard let flag = flags[String(name)] else { return sentence }
        let rest = start.dropFirst(name.count)
        return flag + (rest.hasPrefix(": must ") ? rest.dropFirst() : rest)
    }

    /// Runs a check of the flags' values, and reports a failure as wrong usage.
    static func asUsage(_ check: () throws(SandboxClient.OrderError) -> Void) throws(ValidationError) {
        do throws(SandboxClient.OrderError) { try check() } catch {
            throw ValidationError(inPlace(of: error.description))
        }
    }

    /// Reads the acsTransId of an option or an argument.
    static func acsTransId(_ text: String, of flag: String) throws(ValidationError) -> ACSTransactionID {
        do throws(SandboxClient.OrderError) { return try SandboxClient.acsTransId(text) } catch {
            throw ValidationError("\(flag) \(error)")
        }
    }

    /// Reads the value of `--expires-in`.
    static func seconds(_ text: String?, in bounds: ClosedRange<Int64>) throws(ValidationError) -> Int64? {
        guard let text else { return nil }
        guard let seconds = Int64(text), bounds.contains(seconds) else {
            throw ValidationError("--expires-in must be \(bounds.lowerBound) to \(bounds.upperBound) (seconds)")
        }
        return seconds
    }
}
