import GRDB
import StrictJSON
import ThreeDS

extension PurchaseController {
    /// Lists a purchase's last request again, or with `asNew` starts its transaction as a new purchase: `{"asNew"?}`.
    ///
    /// The listed request has the same bytes. The new purchase has an acsTransId of its own.
    func replay(_ incoming: Incoming) async throws -> Answer {
        let acsTransId = try Self.acsTransId(incoming)
        let body = try incoming.object(emptyAllowed: true)
        try body.refuseMembers(except: ["asNew"])
        let newID = try body.optionalBool("asNew") == true ? try backend.dependencies.randomUUID() : nil
        let sdkTransID = try backend.dependencies.randomUUID()
        let timeline = try await start { db, now in
            let purchase = try PurchaseRecord.first(acsTransId, db)
            if newID == nil { try Self.checkNotExpired(purchase, now: now, db) }
            return try PurchaseOrder(again: purchase, as: newID, sdkTransID: sdkTransID)
        }
        return .json(newID == nil ? 200 : 201, timeline.json)
    }

    /// Refuses to list an expired request again, because no authenticator would receive it.
    private static func checkNotExpired(_ purchase: PurchaseRecord, now: Int64, _ db: Database) throws {
        let last = try RequestRecord.last(of: purchase.id, db)
        guard let last, now >= last.exp else { return }
        throw SandboxError.conflict(
            "the purchase's request has expired; asNew starts its transaction as a new purchase")
    }
}

extension PurchaseOrder {
    /// Makes an order from a purchase, with `newID` for a new purchase.
    ///
    /// Without `newID`, the order lists the purchase's request again.
    ///
    /// - Parameter sdkTransID: the sdkTransID of the new purchase. It replaces the old one in a return URL.
    init(again purchase: PurchaseRecord, as newID: String?, sdkTransID: String) throws {
        let members = purchase.members.map { member in
            guard let newID else { return member }
            switch member.name {
            case "acsTransId": return TransactionMember(name: member.name, value: newID)
            case "threeDSRequestorAppURL":
                let url = ReturnURL.text(member.value, replacing: purchase.sdkTransID, with: sdkTransID)
                return TransactionMember(name: member.name, value: url)
            default: return member
            }
        }
        self.sdkTransID = sdkTransID
        let lifetime = purchase.expiresAt - purchase.createdAt
        transaction = try Transaction(members: members)
        payment = purchase.payment
        emvOrder = purchase.emvOrder
        emv = purchase.emv
        expiresIn = emv.decoupled?.seconds ?? min(max(lifetime, Self.lifetime.lowerBound), Self.lifetime.upperBound)
        authenticatorId = purchase.authenticatorId
        userVerification = purchase.userVerification
        force = false
        times = newID == nil ? 1 : nil
        newJTI = false
        traceparent = purchase.traceparent
        push = purchase.push
    }
}
