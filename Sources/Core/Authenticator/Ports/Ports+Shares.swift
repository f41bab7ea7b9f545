import Journal
import Records

extension Ports {
    /// Returns whether this host polls and delivers for an enrollment.
    ///
    /// It does so for each enrollment if it has the store to itself.
    func isOurs(_ id: EnrollmentID) -> Bool { decision.isOurs(id) }
}

extension EventHub {
    /// Makes a notifier that rings once this host's share of the enrollments has changed.
    func sharesNotifier() -> EventNotifier {
        notifier { if case .sharesChanged = $0 { true } else { false } }
    }
}
