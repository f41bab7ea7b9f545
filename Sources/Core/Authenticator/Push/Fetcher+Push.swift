import Records
import StoreTables

extension Fetcher {
    /// Fetches when an issuer's push says that there is something to fetch, until the task is cancelled.
    ///
    /// One fetch at a time for an enrollment, and one more if another hint came meanwhile.
    func runPushed() async throws {
        await KeyedWork().run([], then: pushHints) { id in
            // What fails has been noted, and the next poll brings the same.
            guard let enrollment = try? await ports.store.read({ try $0.enrollment(id) }) else { return }
            try? await fetchNow(enrollment, by: .push)
        }
    }
}
