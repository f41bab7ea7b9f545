/// A request and its enrollment, as one look into the store found them.
package struct FoundRequest: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment?

    package init(request: RequestRecord, enrollment: Enrollment?) {
        self.request = request
        self.enrollment = enrollment
    }
}
