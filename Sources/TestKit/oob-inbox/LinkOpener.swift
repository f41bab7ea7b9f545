import DurableFiles
import FoundationEssentials
import Glibc
import LinuxProcess
import Synchronization

/// Opens one link in the user's browser, without revealing it to other users.
///
/// Every user of the machine can see the arguments of a process, and the first user of the link gets the session. So
/// the browser gets a file that only its user can read; the file redirects to the link.
final class LinkOpener: Sendable {
    private let file = Mutex<String?>(nil)

    /// Opens the first link; later calls have no effect.
    ///
    /// - Returns: the reason for a failure, or `nil` after a success.
    func open(_ link: String) -> String? {
        file.withLock { file in
            guard file == nil else { return nil }
            let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
            let path = "\(folder)/oob-inbox-\(getpid()).html"
            let page = "<!DOCTYPE html>\n<meta http-equiv=\"refresh\" content=\"0; url=\(link)\">\n"
            do throws(FileError) {
                try DurableFile.write(Array(page.utf8), to: path, mode: 0o600, replacing: false)
            } catch { return error.description }
            file = path
            return URLOpener.open(path)
        }
    }

    /// Deletes the file; called when the program ends.
    func remove() { file.withLock { file in if let path = file { unsafe unlink(path) } } }
}
