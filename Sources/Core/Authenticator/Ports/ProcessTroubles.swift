import Synchronization

/// Troubles of the agent's own process that concern every enrollment, such as a control socket that was removed.
package final class ProcessTroubles: Sendable {
    private let sentences = Mutex<[Trouble.Cause: String]>([:])

    /// Sets the reason why the agent cannot work.
    ///
    /// `nil` ends it.
    package func set(_ sentence: String?, for cause: Trouble.Cause) { sentences.withLock { $0[cause] = sentence } }

    func has(_ cause: Trouble.Cause) -> Bool { sentences.withLock { $0[cause] != nil } }

    package var all: [String] { sentences.withLock { $0.values.sorted() } }
}
