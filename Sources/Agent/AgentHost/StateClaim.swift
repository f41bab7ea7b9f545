import DurableFiles
package import LinuxProcess

/// Locks a state directory for this process.
package enum StateClaim {
    /// Makes the directory if it is missing, locks it, and removes half-written files that a crash left.
    ///
    /// - Returns: the lock, which this process has until it ends or releases it.
    @discardableResult
    package static func lock(_ directory: String) throws(StateClaimError) -> StateLock {
        do throws(FileError) {
            try PrivateDirectory.make(at: directory)
        } catch {
            throw .unusable("the state directory \(error)", systemError: error.systemError)
        }
        let lock: StateLock
        do throws(StateLockError) {
            lock = try StateLock.acquire(directory: directory)
        } catch {
            switch error {
            case .heldBy: throw .held("another agent runs on this state: \(error)")
            case .system(let cause): throw .unusable("\(error)", systemError: cause.errno)
            }
        }
        do throws(FileError) {
            try DurableFile.removeLeftovers(in: directory)
        } catch {
            lock.release()
            throw .unusable("the state directory \(error)", systemError: error.systemError)
        }
        return lock
    }
}

/// The reason why a state directory could not be locked, with a sentence that names the directory.
package enum StateClaimError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another process, or another part of this process, has locked it.
    case held(String)
    /// It cannot be made, read or written, or it is not private (with errno if a system call failed).
    case unusable(String, systemError: CInt?)

    package var description: String {
        switch self {
        case .held(let sentence), .unusable(let sentence, _): sentence
        }
    }
}
