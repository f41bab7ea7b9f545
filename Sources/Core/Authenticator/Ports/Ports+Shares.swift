import Journal
import Records

extension Ports {
    /// Whether this host polls and delivers for an enrollment: each, if it has the store to itself.
    func isOurs(_ id: EnrollmentID) -> Bool { decision.isOurs(id) }
}

extension EventHub {
    /// Rings once other enrollments than before are this host's.
    func sharesNotifier() -> EventNotifier {
        notifier { if case .sharesChanged = $0 { true } else { false } }
    }
}
