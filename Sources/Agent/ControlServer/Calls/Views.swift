import Authenticator
import Control
import IssuerProtocol
import Keys
import Records
import TextAndTime
import ThreeDS

extension RequestView {
    /// - Parameter enrollment: the request's. `nil` if the caller has not loaded it.
    init(_ request: RequestRecord, enrollment: Enrollment?) {
        let transaction = request.presented?.transaction
        let purchase = transaction?.purchase
        let delivery = request.life.delivery
        self.init(
            id: request.id.text, jti: request.jti.text,
            acsTransId: transaction?.acsTransId.text ?? request.acsTransId ?? "",
            enrollmentId: request.enrollmentId.text, issuer: enrollment?.target.issuer.text ?? "",
            state: Control.RequestState(request.life.state), delivery: Control.DeliveryState(delivery),
            receivedAt: UTCTime.text(request.receivedAt))
        enrollmentName = enrollment.flatMap { $0.name.isEmpty || $0.isDamaged ? nil : $0.name }
        merchantName = transaction?.merchantName
        amount = purchase.map { AmountView(currency: $0.currency.alphabetic, value: $0.majorUnits) }
        purchaseDate = purchase?.date.rfc3339
        threeDSRequestorAppURL = transaction?.threeDSRequestorAppURL?.text
        self.transaction = transaction.map { members in
            Dictionary(members.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
        warnings = enrollment.map { request.warnings(for: $0).map(WarningView.init) } ?? []
        reason = request.life.state.reason?.rawValue
        refusal = request.life.state.refusal
        transStatus = delivery.transStatus?.rawValue
        deliveryFailure = delivery.failure
        deliveryError = request.deliveryError
        expiresAt = request.exp.map(UTCTime.text)
        decidedAt = request.decidedAt.map(UTCTime.text)
    }
}

extension WarningView {
    init(_ warning: Warning) {
        self.init(id: warning.id, message: warning.message, severity: warning.severity.rawValue)
    }
}

extension EnrollmentView {
    init(_ enrollment: Enrollment, of agent: Agent) {
        let blockedUntil = agent.blockedUntil(enrollment)
        self.init(
            id: enrollment.id.text, issuer: enrollment.target.issuer.text, algorithm: enrollment.algorithm,
            authnType: enrollment.authnType.rawValue, keyUri: agent.keyURI(of: enrollment),
            key: KeyView(enrollment), name: enrollment.name,
            state: Control.EnrollmentState(enrollment.state, isBlocked: blockedUntil != nil),
            signCount: Int(enrollment.signCount))
        authenticatorId = enrollment.membership?.authenticatorId.text
        credentialId = Base64URL.encode(enrollment.credentialId)
        keyTest = agent.keyTest(of: enrollment.id).map(KeyTestView.init)
        push = agent.pushFacts(of: enrollment).map(PushView.init)
        enrolledAt = (enrollment.membership?.enrolledAt).map(UTCTime.text)
        pinTriesLeft = enrollment.authnType == .pin ? enrollment.pinTries.left : nil
        self.blockedUntil = blockedUntil.map(UTCTime.text)
        warnings = enrollment.warnings.isEmpty ? nil : enrollment.warnings.map(WarningView.init)
    }
}

extension KeyView {
    /// The agent's own keys are in the store, and can be copied.
    fileprivate init(_ enrollment: Enrollment) {
        switch enrollment.key {
        case .own: self.init(kind: "store", exportable: true)
        case .external(let key): self.init(kind: key.facts.kind.rawValue, exportable: key.facts.isExportable)
        }
    }
}

extension KeyTestView {
    fileprivate init(_ test: KeyTest) {
        self.init(extent: test.extent.rawValue, at: UTCTime.text(test.at), problem: test.problem)
    }
}

extension Control.EnrollmentState {
    fileprivate init(_ state: Records.EnrollmentState, isBlocked: Bool) {
        self =
            switch state {
            case .active: isBlocked ? .blocked : .active
            // An ended enrollment is not listed.
            case .suspended, .ended: .suspended
            case .enrolling: .enrolling
            }
    }
}

extension Control.RequestState {
    fileprivate init(_ state: Records.RequestState) {
        self =
            switch state {
            case .pending: .pending
            case .approved: .approved
            case .denied: .denied
            case .expired: .expired
            case .cancelled: .cancelled
            case .refused: .refused
            }
    }
}

extension Control.DeliveryState {
    fileprivate init(_ state: Records.DeliveryState) {
        self =
            switch state {
            case .none: .none
            case .queued: .queued
            case .delivered: .delivered
            case .failed: .failed
            }
    }
}

extension Records.RequestState {
    fileprivate var reason: DenyReason? {
        switch self {
        case .denied(let reason), .refused(_, let reason): reason
        case .pending, .approved, .expired, .cancelled: nil
        }
    }

    fileprivate var refusal: String? {
        if case .refused(let token, _) = self { token } else { nil }
    }
}

extension Records.DeliveryState {
    fileprivate var transStatus: TransStatus? {
        if case .delivered(let status) = self { status } else { nil }
    }
    fileprivate var failure: String? {
        if case .failed(let token) = self { token } else { nil }
    }
}
