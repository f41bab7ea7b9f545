import Records
import Synchronization

/// How the keys are: what the last look at each has shown, since the agent started.
///
/// It has at most one entry for each enrollment that is not over.
final class KeyHealth: Sendable {
    private struct State {
        var tests: [EnrollmentID: KeyTest] = [:]
        /// The enrollments that have shown a problem: few, while there may be a million that have shown none.
        var failing: Set<EnrollmentID> = []
        /// Those that have signed and verified since the start, and that nothing was wrong with since.
        var proven: Set<EnrollmentID> = []
        var isFirstLookDue = false
        var areOwnKeysDue = false
    }

    private let state = Mutex(State())

    /// The last look at a key; nil if there was none yet.
    func test(of name: EnrollmentID) -> KeyTest? { state.withLock { $0.tests[name] } }

    /// Those that cannot be used at the moment.
    var failing: Set<EnrollmentID> { state.withLock(\.failing) }

    /// Whether the agent has started and the first look at all keys is still to come.
    var isFirstLookDue: Bool { state.withLock(\.isFirstLookDue) }

    /// Whether the agent has started and the first look at its own keys has not come far enough.
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

    /// - Returns: whether it is a problem, and there was none before.
    @discardableResult
    func note(_ test: KeyTest, of name: EnrollmentID) -> Bool {
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

    /// The enrollment is over.
    func forget(_ name: EnrollmentID) {
        state.withLock { state in
            state.tests[name] = nil
            state.failing.remove(name)
            state.proven.remove(name)
        }
    }
}
