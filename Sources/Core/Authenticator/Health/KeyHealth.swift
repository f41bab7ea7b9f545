import Records
import Synchronization

/// The result of the last test of each key since the agent started.
///
/// It has at most one entry for each open enrollment.
final class KeyHealth: Sendable {
    private struct State {
        var tests: [EnrollmentID: KeyTest] = [:]
        /// The enrollments whose key has a problem: few, while a million may have none.
        var failing: Set<EnrollmentID> = []
        /// The enrollments whose key has made a verified signature since the start, and had no problem after that.
        var proven: Set<EnrollmentID> = []
        var isFirstLookDue = false
        var areOwnKeysDue = false
    }

    private let state = Mutex(State())

    /// The result of the last test of a key.
    ///
    /// `nil` if it was not tested yet.
    func test(of name: EnrollmentID) -> KeyTest? { state.withLock { $0.tests[name] } }

    /// The enrollments whose key cannot be used at the moment.
    var failing: Set<EnrollmentID> { state.withLock(\.failing) }

    /// Whether this agent has started and has yet to finish the first test of all keys.
    var isFirstLookDue: Bool { state.withLock(\.isFirstLookDue) }

    /// Whether this agent has started and has yet to test enough of its own keys.
    var areOwnKeysDue: Bool { state.withLock(\.areOwnKeysDue) }

    func expectFirstLook() {
        state.withLock { state in
            state.isFirstLookDue = true
            state.areOwnKeysDue = true
        }
    }

    func ownKeysAreSeen() { state.withLock { $0.areOwnKeysDue = false } }

    func firstLookIsOver() { state.withLock { $0.isFirstLookDue = false } }

    func isProven(_ name: EnrollmentID) -> Bool { state.withLock { $0.proven.contains(name) } }

    /// - Returns: whether the key has a problem and had none before.
    @discardableResult
    func record(_ test: KeyTest, of name: EnrollmentID) -> Bool {
        state.withLock { state in
            let wasWell = state.tests[name]?.problem == nil
            state.tests[name] = test
            if test.problem != nil {
                state.failing.insert(name)
                state.proven.remove(name)
            } else {
                state.failing.remove(name)
                if test.extent == .signature { state.proven.insert(name) }
            }
            return wasWell && test.problem != nil
        }
    }

    /// Forgets the key of an ended enrollment.
    func forget(_ name: EnrollmentID) {
        state.withLock { state in
            state.tests[name] = nil
            state.failing.remove(name)
            state.proven.remove(name)
        }
    }
}
