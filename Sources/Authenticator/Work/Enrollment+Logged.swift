import IssuerProtocol
package import Logging

extension Enrollment {
    package func logged(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        more.merging(["enrollment": "\(id.text)", "issuer": "\(target.issuer.text)"]) { mine, _ in mine }
    }
}
