import GRDB
import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime

/// The calls for test drivers; a real issuer does not have them.
package enum SandboxRoutes {
    package static let prefix = "/sandbox/"
    package static let enrollmentCodes = prefix + "enrollment-codes"
    static let purchases = prefix + "purchases"
    package static let authenticators = prefix + "authenticators"
    static let faults = prefix + "faults"
    static let clock = prefix + "clock"

    static func all(of backend: IssuerBackend) -> [Route] {
        let purchase = PurchaseController(backend: backend)
        let challenge = ChallengeController(backend: backend)
        let register = AuthenticatorRegister(backend: backend)
        return [
            Route("POST", enrollmentCodes, handle: EnrollmentCodes(backend: backend).make),
            Route("POST", purchases, handle: purchase.make),
            Route("GET", purchases, handle: PurchaseRegister(backend: backend).list),
            Route("GET", purchases + "/{}", handle: purchase.timeline),
            Route("POST", purchases + "/{}/cancel", handle: challenge.cancel),
            Route("POST", purchases + "/{}/creq", handle: challenge.request),
            Route("POST", purchases + "/{}/replay", handle: purchase.replay),
            Route("GET", authenticators, handle: register.all),
            Route("GET", authenticators + "/{}", handle: register.one),
            Route("POST", authenticators + "/{}/revoke", handle: register.revoke),
            Route("POST", faults) { incoming in
                let planned = try backend.faults.plan(FaultOrder(try incoming.object()))
                backend.notifier.notify(.anything)
                return .json(200, ["planned": .integer(Int64(planned))])
            },
            Route("GET", faults) { _ in .json(200, backend.faults.json) },
            Route("DELETE", faults) { incoming in
                let cleared = backend.faults.clear(andOdds: try incoming.flag("odds"))
                backend.notifier.notify(.anything)
                return .json(200, ["cleared": .integer(Int64(cleared)), "planned": 0])
            },
            Route("GET", clock, handle: ClockController(backend: backend).show),
            Route("POST", clock, handle: ClockController(backend: backend).advance),
        ]
    }
}

/// The issuer's records of its authenticators.
struct AuthenticatorRegister: Sendable {
    let backend: IssuerBackend

    func all(_ incoming: Incoming) async throws -> Answer {
        let records = try await backend.store.read { db in
            try AuthenticatorRecord.rows(db, "ORDER BY seq LIMIT 20000")
        }
        return .list(records.map(summary))
    }

    func one(_ incoming: Incoming) async throws -> Answer {
        let site = try backend.site.get()
        let record = try await record(incoming)
        return .json(200, try record.detail(summary(record), rpId: site.rpId))
    }

    /// Revokes an authenticator, as a bank does if a card or a phone is lost: its token is refused from now on.
    func revoke(_ incoming: Incoming) async throws -> Answer {
        let record = try await record(incoming)
        try await AuthenticatorController(backend: backend).end(record.id, as: "revoked")
        return .json(200, summary(try await self.record(incoming)))
    }

    private func summary(_ record: AuthenticatorRecord) -> JSONObject {
        var json = record.summary
        json["refusedFetches"] = .integer(backend.fetchQuota.refused(record.id))
        return json
    }

    private func record(_ incoming: Incoming) async throws -> AuthenticatorRecord {
        let id = incoming.captured.first ?? ""
        let found = try await backend.store.read { db in try AuthenticatorRecord.find(id, db) }
        guard let found else { throw SandboxError.notFound("no such authenticator") }
        return found
    }
}

extension AuthenticatorRecord {
    var summary: JSONObject {
        var json: JSONObject = [
            "id": .string(id), "state": .string(state), "name": .string(name),
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

    /// Adds all data that is needed to verify the registration elsewhere.
    func detail(_ summary: JSONObject, rpId: String) throws -> JSONObject {
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
