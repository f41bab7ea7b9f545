import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import TableRows

/// The calls for whoever drives a test; no issuer has them.
enum SandboxRoutes {
    static let enrollmentCodes = "/sandbox/enrollment-codes"
    static let purchases = "/sandbox/purchases"
    static let authenticators = "/sandbox/authenticators"
    static let faults = "/sandbox/faults"

    static func all(of backend: IssuerBackend) -> [Route] {
        let purchase = PurchaseController(backend: backend)
        let register = AuthenticatorRegister(backend: backend)
        return [
            Route("POST", enrollmentCodes, handle: EnrollmentCodes(backend: backend).make),
            Route("POST", purchases, handle: purchase.make),
            Route("GET", purchases + "/{}", handle: purchase.timeline),
            Route("POST", purchases + "/{}/cancel", handle: purchase.cancel),
            Route("GET", authenticators, handle: register.all),
            Route("GET", authenticators + "/{}", handle: register.one),
            Route("POST", authenticators + "/{}/revoke", handle: register.revoke),
            Route("POST", faults) { incoming in
                .json(200, ["planned": .integer(Int64(try backend.faults.plan(try incoming.object())))])
            },
            Route("GET", faults) { _ in
                let planned = backend.faults.planned
                return .json(200, ["planned": .integer(Int64(planned.count)), "next": PlannedFault.list(planned)])
            },
            Route("DELETE", faults) { _ in
                .json(200, ["cleared": .integer(Int64(backend.faults.clear())), "planned": 0])
            },
        ]
    }
}

/// What the issuer knows of its authenticators.
struct AuthenticatorRegister: Sendable {
    let backend: IssuerBackend

    func all(_ incoming: Incoming) async throws -> Answer {
        let records = try await backend.store.queue.read { db in
            try db.rows(of: AuthenticatorColumn.table, "ORDER BY seq LIMIT 20000", as: AuthenticatorRecord.init)
        }
        return .list(records.map(\.summary))
    }

    func one(_ incoming: Incoming) async throws -> Answer {
        let site = try backend.site.get()
        return .json(200, try await record(incoming).detail(rpId: site.rpId))
    }

    /// As the bank does when a card or a phone is lost: the token is worth nothing from here on.
    func revoke(_ incoming: Incoming) async throws -> Answer {
        let record = try await record(incoming)
        try await AuthenticatorController(backend: backend).end(record.id, as: "revoked")
        return .json(200, try await self.record(incoming).summary)
    }

    private func record(_ incoming: Incoming) async throws -> AuthenticatorRecord {
        let id = incoming.captured.first ?? ""
        let found = try await backend.store.queue.read { db in try AuthenticatorRecord.find(id, db) }
        guard let found else { throw SandboxError.notFound("no such authenticator") }
        return found
    }
}

extension AuthenticatorRecord {
    var summary: JSONObject {
        var json: JSONObject = [
            "id": .string(id), "state": .string(ending ?? "active"), "name": .string(name),
            "version": .string(version), "authnType": .string(authnType),
            "isTest": .bool(authnType == AuthnType.test.rawValue), "format": .string(format),
            "aaguid": .string(Base16.encode(aaguid)), "credentialId": .string(Base64URL.encode(credentialId)),
            "signCount": .integer(Int64(signCount)), "enrolledAt": .time(enrolledAt),
        ]
        json["endedAt"] = endedAt.map(JSONValue.time)
        json["push"] = subscription.map { subscription in
            ["endpoint": .string(subscription.endpoint.text), "since": .time(pushSince ?? enrolledAt)]
        }
        return json
    }

    /// With all that it takes to verify the registration elsewhere.
    func detail(rpId: String) throws -> JSONObject {
        var json = summary
        json["publicKey"] = .string(try PublicKey(subjectPublicKeyInfo: publicKey).pem)
        json["userHandle"] = .string(Base64URL.encode(userId))
        json["registration"] = .object(registration)
        json["expected"] = [
            "challenge": .string(Base64URL.encode(challenge)), "origin": .string(origin), "rpId": .string(rpId),
        ]
        return json
    }
}
