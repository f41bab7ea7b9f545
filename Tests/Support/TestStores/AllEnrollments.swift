package import Records
import StoreTables

extension StoreReading {
    /// All that are not over, oldest first; with `ended`, also those.
    package func enrollments(includingEnded ended: Bool) throws -> [Enrollment] {
        var (found, place): ([Enrollment], Int64?) = ([], nil)
        while let page = try enrollmentPage(after: place, limit: 3, includingEnded: ended) {
            found += page.enrollments
            place = page.place
        }
        return found
    }
}
