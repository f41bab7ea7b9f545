import Authenticator
import Control
import Keys

extension ControlCalls {
    func changePIN(_ name: String, _ command: PINChangeCommand, by peer: ControlPeer) async throws -> Answer {
        let old = try PIN(command.pin, as: "pin")
        let new = try PIN(command.newPin, as: "newPin")
        let enrollment = try await agent.enrollment(named: name)
        try await agent.checkPINChange(of: enrollment.id)
        try await quota.run(.changePIN, by: peer.uid) {
            try await agent.note(.changePIN, by: peer, about: enrollment.id)
            try await agent.changePIN(of: enrollment.id, from: old, to: new)
        }
        let changed = try await agent.enrollment(enrollment.id) ?? enrollment
        return try .json(EnrollmentView(changed, of: agent))
    }
}

extension PIN {
    /// Reads a PIN; the error names the member and never the PIN.
    init(_ text: PINText, as member: String) throws(ControlError) {
        var bytes = Array(text.revealed.utf8)
        do throws(PINError) {
            try self.init(Secret(wiping: &bytes))
        } catch {
            throw ControlError(.invalidArgument, "\(member): \(error)")
        }
    }
}
