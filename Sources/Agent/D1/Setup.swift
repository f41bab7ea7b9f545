import IssuerProtocol
import Records

/// The validated components of a task.
struct Setup: Sendable {
    let target: IssuerTarget
    let stateDirectory: String
    let secretFile: String?
    /// The name under which the issuer lists this authenticator.
    let name: String
    let components: D1Task.Components

    init(_ components: D1Task.Components, _ params: Set<ConfigParams>) throws(D1Error) {
        guard let url = components.d1ServiceURLString else {
            throw Self.refusal("d1ServiceURLString", "is missing: give the issuer's URL")
        }
        let issuer: IssuerURL
        do throws(ProtocolError) { issuer = try IssuerURL(written: url) } catch {
            throw Self.refusal("d1ServiceURLString", "\(error)")
        }
        guard let directory = components.stateDirectory, directory.hasPrefix("/") else {
            throw Self.refusal("stateDirectory", "must be an absolute path")
        }
        guard params.count <= 1 else { throw Self.refusal("configParams", "may have one coreConfig, not several") }
        name = params.first?.consumerID ?? issuer.host
        guard EnrollmentName.bytes.contains(name.utf8.count) else {
            throw Self.refusal("consumerID", "must have 1 to 256 bytes")
        }
        target = IssuerTarget(issuer: issuer, rootsPEM: components.trustedRoots)
        stateDirectory = directory
        secretFile = components.secretFile
        self.components = components
    }

    var deliverySeconds: Double { max(components.deliveryTimeout / .seconds(1), 0) }

    private static func refusal(_ member: String, _ what: String) -> D1Error {
        D1Error(.invalidArgument, "invalidArgument", "\(member): \(what)")
    }
}
