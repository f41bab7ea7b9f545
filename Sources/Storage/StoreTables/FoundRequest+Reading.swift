package import Records

extension FoundRequest {
    /// Reads a request with its enrollment; nil if it is not there.
    package static func read(_ id: RequestID, in store: StoreReading) throws -> FoundRequest? {
        try store.request(id).map { FoundRequest(request: $0, enrollment: try store.enrollment($0.enrollmentId)) }
    }

    /// Returns the requests that are there, by their ids.
    package static func all(_ ids: Set<RequestID>, in store: StoreReading) throws -> [RequestID: FoundRequest] {
        // Many requests are of few enrollments.
        var enrollments: [EnrollmentID: Enrollment?] = [:]
        var found: [RequestID: FoundRequest] = [:]
        for id in ids {
            guard let request = try store.request(id) else { continue }
            let known = enrollments[request.enrollmentId]
            let enrollment = if let known { known } else { try store.enrollment(request.enrollmentId) }
            enrollments[request.enrollmentId] = .some(enrollment)
            found[id] = FoundRequest(request: request, enrollment: enrollment)
        }
        return found
    }
}
