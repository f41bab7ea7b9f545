import IssuerProtocol
import Logging
import Records

extension Enrollment {
    func logged(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        more.merging(["enrollment": "\(id.text)", "issuer": "\(target.issuer.text)"]) { mine, _ in mine }
    }
}
