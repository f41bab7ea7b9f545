import Records
import StoreTables

/// All open enrollments in pages, oldest first.
///
/// So memory has one page at a time, however many enrollments there are. Other tasks may write between two pages: each
/// enrollment has the state at which its page was read.
struct EnrollmentPages: AsyncSequence {
    /// The number of enrollments in a page.
    static let size = 200

    let ports: Ports

    func makeAsyncIterator() -> Iterator { Iterator(ports: ports) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let ports: Ports
        private var place: Int64?
        private var isOver = false

        fileprivate init(ports: Ports) { self.ports = ports }

        /// Reads the next page.
        ///
        /// If the store has an error, waits until it recovers.
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
