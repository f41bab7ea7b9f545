import Records
import StoreTables

/// All enrollments that are not over, oldest first, some at a time.
///
/// So no more are in memory, however many there are. Between two pages others may write: each enrollment is as it was
/// when its page was read.
struct EnrollmentPages: AsyncSequence {
    /// How many there are in a page.
    static let size = 200

    let ports: Ports

    func makeAsyncIterator() -> Iterator { Iterator(ports: ports) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let ports: Ports
        private var place: Int64?
        private var isOver = false

        fileprivate init(ports: Ports) { self.ports = ports }

        /// If the store is in trouble it is waited for.
        mutating func next() async throws -> [Enrollment]? {
            guard !isOver else { return nil }
            let page = try await ports.patiently { [ports, place] in
                try await ports.store.survey {
                    try $0.enrollmentPage(after: place, limit: EnrollmentPages.size, includingEnded: false)
                }
            }
            place = page?.place
            isOver = page == nil
            return page?.enrollments
        }
    }
}
