import DurableFiles
import FoundationEssentials
import Glibc
import LinuxProcess
import Synchronization

/// Opens one link in the user's browser, and tells it nobody else.
///
/// Every user of the machine sees the arguments of a process, and the link lets in who follows it first. So the browser
/// gets a file that only its user can read, which leads on.
final class LinkOpener: Sendable {
    private let file = Mutex<String?>(nil)

    /// Does nothing after the first time.
    ///
    /// - Returns: why it could not be opened; nil if it was.
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

    /// The file is gone when the program is.
    func remove() { file.withLock { file in if let path = file { unsafe unlink(path) } } }
}
