package import Records

extension FoundRequest {
    /// Returns a request with its enrollment, or `nil` if the request does not exist.
    package static func read(_ id: RequestID, in store: StoreReading) throws -> FoundRequest? {
        try store.request(id).map { FoundRequest(request: $0, enrollment: try store.enrollment($0.enrollmentId)) }
    }

    /// Returns the requests that exist, by id.
    package static func all(_ ids: Set<RequestID>, in store: StoreReading) throws -> [RequestID: FoundRequest] {
        // Many requests share few enrollments, so each enrollment is read once.
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
