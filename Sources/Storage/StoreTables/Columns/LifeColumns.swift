import IssuerProtocol
import Records
import TableRows

/// The state and the delivery of a request, as columns.
struct LifeColumns {
    let state: String
    var reason: String?
    var refusal: String?
    let delivery: DeliveryColumns

    init(_ life: RequestLife) {
        delivery = DeliveryColumns(life.delivery)
        switch life.state {
        case .pending: state = "pending"
        case .approved: state = "approved"
        case .denied(let reason):
            state = "denied"
            self.reason = reason.rawValue
        case .expired: state = "expired"
        case .cancelled: state = "cancelled"
        case .refused(let token, let reason):
            state = "refused"
            refusal = token
            self.reason = reason.rawValue
        }
    }

    static func read(_ fields: Fields<RequestColumn>) throws -> RequestLife {
        RequestLife(state: try state(fields), delivery: try delivery(fields))
    }

    private static func state(_ fields: Fields<RequestColumn>) throws -> RequestState {
        switch try fields.text(.state) {
        case "pending": .pending
        case "approved": .approved
        case "denied": .denied(try fields.value(.reason, DenyReason.init(rawValue:)))
        case "expired": .expired
        case "cancelled": .cancelled
        case "refused":
            .refused(
                token: try fields.text(.refusal), reason: try fields.value(.reason, DenyReason.init(rawValue:)))
        default: throw fields.unreadable(.state)
        }
    }

    private static func delivery(_ fields: Fields<RequestColumn>) throws -> DeliveryState {
        switch try fields.text(.delivery) {
        case "none": .none
        case "queued": .queued
        case "delivered": .delivered(try fields.value(.transStatus, TransStatus.init(rawValue:)))
        case "failed": .failed(token: try fields.text(.deliveryFailure))
        default: throw fields.unreadable(.delivery)
        }
    }
}

/// The delivery of a decision, as columns.
struct DeliveryColumns {
    let delivery: String
    var transStatus: String?
    var deliveryFailure: String?

    init(_ state: DeliveryState) {
        switch state {
        case .none: delivery = "none"
        case .queued: delivery = "queued"
        case .delivered(let status):
            delivery = "delivered"
            transStatus = status.rawValue
        case .failed(let token):
            delivery = "failed"
            deliveryFailure = token
        }
    }
}
