import GRDB
import StrictJSON
import TableRows
import ThreeDS

extension PurchaseController {
    /// `{"asNew"?}`: lists the last request of a purchase again, its bytes as they were, or starts the same transaction
    /// as a new purchase under an acsTransId of its own.
    func replay(_ incoming: Incoming) async throws -> Answer {
        let acsTransId = try Self.acsTransId(incoming)
        let body = try incoming.object(emptyAllowed: true)
        try body.refuseMembers(except: ["asNew"])
        let newID = try body.optionalBool("asNew") == true ? try backend.dependencies.randomUUID() : nil
        let timeline = try await start { db, now in
            let purchase = try PurchaseRecord.first(acsTransId, db)
            if newID == nil { try Self.checkNotExpired(purchase, now: now, db) }
            return try PurchaseOrder(again: purchase, as: newID)
        }
        return .json(newID == nil ? 200 : 201, timeline.json)
    }

    /// Nobody is handed a request that has expired, so listing it again would do nothing.
    private static func checkNotExpired(_ purchase: PurchaseRecord, now: Int64, _ db: Database) throws {
        let last = try RequestRecord.last(of: purchase.id, db)
        guard let last, now >= last.exp else { return }
        throw SandboxError.conflict(
            "the purchase's request has expired; asNew starts its transaction as a new purchase")
    }
}

extension PurchaseOrder {
    /// What a purchase was ordered with; with another acsTransId a purchase of its own, else its request once more.
    init(again purchase: PurchaseRecord, as newID: String?) throws {
        let members = purchase.members.map { member in
            guard let newID, member.name == "acsTransId" else { return member }
            return TransactionMember(name: member.name, value: newID)
        }
        let lifetime = purchase.expiresAt - purchase.createdAt
        transaction = try Transaction(members: members)
        payment = purchase.payment
        emvOrder = purchase.emvOrder
        emv = purchase.emv
        expiresIn = emv.decoupled?.seconds ?? min(max(lifetime, Self.lifetime.lowerBound), Self.lifetime.upperBound)
        authenticatorId = purchase.authenticatorId
        userVerification = purchase.requirement
        force = false
        times = newID == nil ? 1 : nil
        newJTI = false
        traceparent = purchase.traceparent
        push = purchase.push
    }
}
