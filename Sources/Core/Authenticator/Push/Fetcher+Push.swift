import Records
import StoreTables

extension Fetcher {
    /// Fetches for an enrollment after a push of its issuer, until the task is cancelled.
    ///
    /// One fetch runs at a time for an enrollment, and one more if another push came meanwhile.
    func runPushed() async throws {
        await KeyedWork().perform([], then: pushHints) { id in
            // Errors are ignored: the push was only a hint, and where polls run they bring the same messages.
            // ``fetchNow(_:by:)`` has reported a failed call or a damaged row. ``StoreWatch`` reports errors of the
            // store, and `member` a token that does not open.
            guard let enrollment = try? await ports.store.read({ try $0.enrollment(id) }) else { return }
            try? await fetchNow(enrollment, by: .push)
        }
    }
}
