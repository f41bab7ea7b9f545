import Records
import StoreTables

extension Fetcher {
    /// Fetches for an enrollment after a push of its issuer, until the task is cancelled.
    ///
    /// One fetch runs at a time for an enrollment, and one more if another push came meanwhile.
    func runPushed() async throws {
        await KeyedWork().run([], then: pushHints) { id in
            // ``fetchNow(_:by:)`` has reported a failure, and the next poll brings the same messages.
            guard let enrollment = try? await ports.store.read({ try $0.enrollment(id) }) else { return }
            try? await fetchNow(enrollment, by: .push)
        }
    }
}
