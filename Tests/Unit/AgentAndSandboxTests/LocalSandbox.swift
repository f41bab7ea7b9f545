import Foundation
import GRDB
import IssuerProtocol
import Keys
import ServedSandbox
import StrictJSON
import Testing

@testable import Sandbox

extension LocalSandbox {
    /// The TCP connections that it has now, as the kernel counts them.
    var connections: Int {
        get throws {
            // A file of /proc says that it is empty, and is read to its end all the same.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/net/tcp"))
            let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            let digits = String(port, radix: 16, uppercase: true)
            let own = ":" + String(repeating: "0", count: 4 - digits.count) + digits
            // proc_pid_net(5): number, local address, remote address, state; 01 is ESTABLISHED.
            return table.split(separator: "\n").dropFirst().count { line in
                let columns = line.split(separator: " ")
                return columns.count > 3 && columns[1].hasSuffix(own) && columns[3] == "01"
            }
        }
    }

    /// Lists a request for an authenticator.
    func purchase(for authenticatorId: String) async throws {
        let order: JSONObject = ["authenticatorId": .string(authenticatorId)]
        let answer = await router.answer(
            to: Call("POST", "/sandbox/purchases", body: JSONValue.object(order).serialized()))
        try #require(answer.status == 201)
    }

    /// Authenticators as after enrollments, without the ceremonies.
    func addAuthenticators(_ members: [SampleMember]) async throws {
        let publicKey = try SigningKey.generate(.es256).publicKey.subjectPublicKeyInfo
        let rows = try members.map { member in (member, Data(try SHA256Digest.of(Array(member.token.utf8)))) }
        try await backend.store.queue.write { db in
            for (member, digest) in rows {
                try db.execute(
                    sql: """
                        INSERT INTO authenticator (id, tokenDigest, credentialId, userId, publicKey, signCount, aaguid,
                            format, authnType, name, version, registration, challenge, origin, enrolledAt)
                        VALUES (?, ?, ?, X'01', ?, 0, ?, 'none', 'presence', 'card', '1', '{}', X'01', ?, 0)
                        """,
                    arguments: [
                        member.authenticatorId, digest, Data(member.credentialId), Data(publicKey),
                        Data(AAGUID.model), issuer.text,
                    ])
            }
        }
    }
}

/// What issuer and agent both know of an enrollment.
struct SampleMember: Sendable {
    let authenticatorId: String
    let token: String
    let credentialId: [UInt8]

    init(_ number: Int) throws {
        authenticatorId = "authenticator-\(number)"
        token = "token-\(number)"
        credentialId = try SecureRandom.bytes(32)
    }
}
