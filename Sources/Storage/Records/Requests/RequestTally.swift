/// Requests that are alike in how they ended, how long that took, and what was to answer them.
package struct RequestTally: Sendable, Equatable {
    /// What was to answer them, as `Personas` wrote it; nil: nobody has looked.
    package let script: String?
    /// The request's state, delivery and transStatus, as the store writes them.
    package let state: String
    package let delivery: String
    package let transStatus: String?
    /// Seconds from when they came to their decision; nil if nobody has decided.
    package let latency: Int64?
    package let count: Int

    package init(
        script: String?, state: String, delivery: String, transStatus: String?, latency: Int64?, count: Int
    ) {
        self.script = script
        self.state = state
        self.delivery = delivery
        self.transStatus = transStatus
        self.latency = latency
        self.count = count
    }
}
