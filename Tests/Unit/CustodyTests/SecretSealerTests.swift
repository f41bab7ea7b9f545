import Custody
import IssuerProtocol
import Keys
import Records
import Testing

/// Access tokens under the agent's secret.
struct SecretSealerTests {
    private let secret: AgentSecret
    private let sealer: SecretSealer
    private let name: EnrollmentID
    private let other: EnrollmentID

    init() throws {
        secret = try AgentSecret.generate()
        sealer = SecretSealer(secret: secret)
        name = try #require(EnrollmentID("0123456789abcdef0123"))
        other = try #require(EnrollmentID("ffffffffffffffffffff"))
    }

    @Test func `a token opens for its own enrollment under its own secret alone`() throws {
        let token = try #require(AccessToken("token-1"))
        let sealed = try sealer.seal(token, for: name)
        #expect(sealed.firstRange(of: Array("token-1".utf8)) == nil)
        #expect(try sealer.open(sealed, for: name).reveal() == "token-1")
        #expect(throws: SealError.notSealedByThisSecret) { try sealer.open(sealed, for: other) }
        let stranger = SecretSealer(secret: try AgentSecret.generate())
        #expect(throws: SealError.notSealedByThisSecret) { try stranger.open(sealed, for: name) }
    }

    @Test func `a sealed token with any byte changed does not open`() throws {
        let sealed = try sealer.seal(try #require(AccessToken("token-1")), for: name)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: SealError.self) { try sealer.open(changed, for: name) }
        }
        #expect(throws: SealError.malformed) { try sealer.open([], for: name) }
    }

    @Test func `what was sealed but is no token does not open`() throws {
        let label = "access token \(name.text)"
        for bytes: [UInt8] in [Array("no token".utf8), [0xFF], Array(repeating: 0x41, count: 513)] {
            let sealed = try secret.seal(Secret(bytes), label: label)
            #expect(throws: SealError.malformed) { try sealer.open(sealed, for: name) }
        }
    }
}
