import Authenticator
import ControlServer
import IssuerLink
import PushReceiver

/// Every bound that an operator may set, as each part takes it.
struct Bounds {
    var agent = AgentBounds.standard
    var answer = AnswerBounds.standard
    var control = ControlBounds.standard
    var push = PushBounds.standard
    var pushRates = PushRates()
    /// Seconds.
    let pollIntervalWithPush: Int64
    /// Milliseconds.
    let hostLease: Int
    let eventsKept: Int
    /// Seconds.
    let auditRetention: Int64
    /// Seconds.
    let retention: Int64

    init(_ source: SettingSource) throws(StartError) {
        agent.undecided = try source.value(.maxUndecided)
        agent.refusedADay = try source.value(.maxRefused)
        agent.messagesADay = try source.value(.maxMessages)
        agent.cancellations = try source.value(.maxCancellations)
        agent.messageBytes = try source.value(.maxRequestBytes)
        agent.heldOfEnrollment = try source.value(.maxHeld)
        agent.held = try source.value(.maxHeldInAll)
        agent.logPause = Int64(try source.value(.logPause))
        answer.bodyBytes = try source.value(.maxAnswerBytes)
        answer.listBytes = try source.value(.maxListBytes)
        answer.listRequests = try source.value(.maxListRequests)
        control.connections = try source.value(.controlConnections)
        control.patience = try source.value(.controlPatience)
        control.headerBytes = try source.value(.controlHeaderBytes)
        control.bodyBytes = try source.value(.controlBodyBytes)
        push.connections = try source.value(.pushConnections)
        push.patience = try source.value(.pushPatience)
        pushRates.ofEndpoint = Int64(try source.value(.pushRate))
        pushRates.inAll = Int64(try source.value(.pushRateInAll))
        hostLease = try source.value(.hostLease)
        pollIntervalWithPush = Int64(try source.value(.pollIntervalWithPush))
        eventsKept = try source.value(.eventsKept)
        auditRetention = Int64(try source.value(.auditRetention)) * 86_400
        retention = Int64(try source.value(.retention)) * 86_400
    }
}

extension SettingSource {
    fileprivate func value(_ setting: Setting) throws(StartError) -> Int {
        guard let bound = Bound.of[setting] else { throw StartError(.software, "\(setting.rawValue) has no bounds") }
        return try integer(setting, in: bound.range) ?? bound.usual
    }
}
