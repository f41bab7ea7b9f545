/// A request and its enrollment, from one read of the store.
package struct FoundRequest: Sendable {
    package let request: RequestRecord
    package let enrollment: Enrollment?

    package init(request: RequestRecord, enrollment: Enrollment?) {
        self.request = request
        self.enrollment = enrollment
    }
}
