import IssuerProtocol
import Keys
import Testing

@testable import Authenticator
@testable import Records

/// The memory of what issuers publish.
@Suite struct IssuerDirectoryTests {
    private static let keysOfIssuer = 10
    /// What the directory counts for an issuer with those keys.
    private static let bytesOfIssuer = 16_384 + keysOfIssuer * 1_024

    private let gateway: ScriptedIssuer
    private let clock = ManualClock(now: 1_700_000_000)

    init() throws {
        let key = try SigningKey.generate(.es256).publicKey
        gateway = ScriptedIssuer(keys: JWKSet(keys: (0..<Self.keysOfIssuer).map { ("key-\($0)", key) }))
    }

    private func target(_ number: Int, rootsPEM: String? = nil) throws -> IssuerTarget {
        IssuerTarget(issuer: try IssuerURL("https://issuer-\(number).example"), rootsPEM: rootsPEM)
    }

    @Test func `past the bound in bytes the issuer that was unused for longest is asked again`() async throws {
        let directory = IssuerDirectory(gateway: gateway, clock: clock, maxBytes: 3 * Self.bytesOfIssuer)
        for number in 1...3 { _ = try await directory.keys(target(number)) }
        _ = try await directory.keys(target(1))
        #expect(await gateway.keyFetches == 3, "all three are within the bound")
        _ = try await directory.keys(target(4))
        #expect(await directory.count == 3)
        _ = try await directory.keys(target(1))
        #expect(await gateway.keyFetches == 4, "the one that was used of late is still known")
        _ = try await directory.keys(target(2))
        #expect(await gateway.keyFetches == 5, "the one that was not is asked again")
    }

    @Test func `ten thousand issuers take no more than the bound`() async throws {
        let directory = IssuerDirectory(gateway: gateway, clock: clock, maxBytes: 100 * Self.bytesOfIssuer)
        for number in 1...10_000 { _ = try await directory.keys(target(number)) }
        #expect(await directory.count == 100)
    }

    @Test func `root certificates count, and one issuer is always known`() async throws {
        let directory = IssuerDirectory(gateway: gateway, clock: clock, maxBytes: 3 * Self.bytesOfIssuer)
        for number in 1...2 { _ = try await directory.keys(target(number)) }
        _ = try await directory.keys(target(3, rootsPEM: String(repeating: "A", count: 3 * Self.bytesOfIssuer)))
        #expect(await directory.count == 1)
    }
}
