import Conformance
import IssuerProtocol
import Keys
import StrictJSON
import Testing
import ThreeDS

/// A report on a message whose key is in the JWK Set and cannot be used.
struct IgnoredKeyReportTests {
    @Test func `an ignored key is said with its reason`() throws {
        let key = try SigningKey.generate(.es256)
        let input = CompactJWS.signingInput(kid: "a", typ: "oob-authn-request+jwt", payload: Array("{}".utf8))
        let message = CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
        let keys = try JWKSet(json: Array(#"{"keys":[{"kid":"a","kty":"EC","crv":"P-256","use":"enc"}]}"#.utf8))
        var facts = RequestFacts()
        facts.keys = keys
        let report = try RequestCheck.report(on: message, facts: facts)
        let row = report.rows.first { $0.rule == "unknownKey" }
        let reason = #"the key "a" of the issuer's JWK Set is ignored: use is "enc", and sig is taken, or none"#
        #expect(report.verdict == "unknownKey" && row?.outcome == .failed(reason))
    }
}
