/// The number of requests with the same outcome, latency and script.
package struct RequestTally: Sendable, Equatable {
    /// The script that was to answer them, as written by `Personas`, or `nil` if there was no look-up.
    package let script: String?
    /// The request's state, delivery and transStatus, as the store writes them.
    package let state: String
    package let delivery: String
    package let transStatus: String?
    /// Seconds from the arrival of the requests to their decision, or `nil` without a decision.
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
