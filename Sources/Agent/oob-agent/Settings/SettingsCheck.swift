// `stat` belongs to this C module, Dispatch's, if the compiler reads it before Glibc's.
import CDispatch
import Control
import ControlServer
import DurableFiles
import Glibc
import Keys
import LinuxProcess

/// Checks the files and directories that the settings name, for `--check-config`.
///
/// It opens and reads files as a start does, and does not make or change any. It does not check defaults: systemd makes
/// the default directories, and a start makes a secret.
struct SettingsCheck {
    let settings: Settings
    let source: SettingSource

    func report() throws(StartError) {
        try named(.stateDir) { _ throws(StartError) in
            do throws(FileError) {
                try PrivateDirectory.expectUsable(at: settings.stateDirectory)
            } catch {
                throw StartError(.config, "\(error)")
            }
        }
        // If no file is named, the secret of an earlier start is in the state directory.
        let place = settings.secretFile == nil ? Setting.stateDir : .secretFile
        let secret = try named(place) { _ throws(StartError) in try SecretSource.find(settings) }
        let previous = try named(.previousSecretFile) { _ throws(StartError) in
            try SecretSource.loadPrevious(settings)
        }
        if let secret, let previous, secret == previous { throw SecretSource.unchanged }
        try named(.socket, socket)
        try named(.pkcs11Module) { path throws(StartError) in
            guard unsafe access(path, R_OK) == 0 else { throw Self.refusal(path, "cannot be read") }
        }
    }

    /// Checks the value of a setting; an error begins with the setting's place.
    @discardableResult
    private func named<Value>(
        _ setting: Setting, _ look: (String) throws(StartError) -> Value?
    ) throws(StartError) -> Value? {
        guard let found = source.find(setting) else { return nil }
        do throws(StartError) {
            return try look(found.value)
        } catch {
            throw StartError(.config, "\(found.place): \(error.message)")
        }
    }

    /// The socket's directory must exist, unless it is the state directory, which a start makes.
    private func socket(_ path: String) throws(StartError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
            throw StartError(.config, "\(path): this is not a socket: move it away, or set another path")
        }
        if let problem = SocketPlace.directoryProblem(of: path) {
            throw StartError(.config, "\(ControlServerError(problem, path: path))")
        }
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        guard directory != settings.stateDirectory + "/" else { return }
        guard unsafe stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.refusal(directory, "is not a usable directory")
        }
        guard unsafe faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw Self.refusal(directory, "cannot be written to")
        }
    }

    private static func refusal(_ path: String, _ problem: String) -> StartError {
        let number = errno
        guard number != 0 else { return StartError(.config, "\(path) \(problem)") }
        // glibc keeps the text per thread (strerror(3)), and it is copied at once.
        return StartError(.config, "\(path) \(problem): \(unsafe String(cString: strerror(number)))")
    }
}
