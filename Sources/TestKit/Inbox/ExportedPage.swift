package import Control
import FoundationEssentials
import TextAndTime

/// A page about one request that loads nothing and needs no agent.
package enum ExportedPage {
    /// - Parameters:
    ///   - id: the request's id, jti or acsTransId, or a unique prefix of one.
    ///   - schemes: the URL schemes of return URLs that become links.
    package static func of(
        _ id: String, by client: ControlClient, linking schemes: OpenSchemes
    ) async throws(ClientError) -> [UInt8] {
        let evidence = try await client.evidence(id: id, enrollment: nil)
        let json: [UInt8]
        do throws(ControlError) { json = try ControlJSON.encode(evidence) } catch { throw .refused(error) }
        let now = UTCTime.text(Int64(Date().timeIntervalSince1970))
        return Array(Pages.export(evidence, json: json, schemes: schemes, now: now).utf8)
    }
}
