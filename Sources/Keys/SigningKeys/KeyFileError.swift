package import DurableFiles

/// Why a key file, or the same bytes in the store, could not be written, read or removed.
///
/// Never carries bytes of it.
package enum KeyFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file itself; says the path and what to do.
    case file(FileError)
    case seal(path: String, SealError)
    case key(path: String, KeyError)
    case openSSL(path: String, OpenSSLError)
    /// The key is under a PIN, and none was given.
    case needsPIN(path: String)
    /// A PIN was given, and the key is under none: nothing would check it.
    case takesNoPIN(path: String)
    /// It is not the PIN that the key is under.
    case wrongPIN(path: String)
    /// The agent's secret changes, and the file cannot follow.
    case change(path: String, SecretChangeError)

    package var description: String {
        switch self {
        case .file(let cause): "key file \(cause)"
        case .seal(let path, let cause): "\(Self.named(path)): \(cause); give the secret that it was written under"
        case .key(let path, let cause): "\(Self.named(path)): \(cause); restore the file from a backup"
        case .openSSL(let path, let cause): "\(Self.named(path)): \(cause)"
        case .needsPIN(let path): "\(Self.named(path)): it takes a PIN"
        case .takesNoPIN(let path): "\(Self.named(path)): it takes no PIN, so that none can be checked"
        case .wrongPIN(let path): "\(Self.named(path)): wrong PIN"
        case .change(let path, let cause): "\(Self.named(path)): \(cause)"
        }
    }

    /// A key that the store keeps has a URI in place of a path.
    private static func named(_ path: String) -> String { path.hasPrefix("/") ? "key file \(path)" : "key \(path)" }

    /// Runs one step, and makes its error one of a key file.
    static func wrapping<Result, Cause: Error>(
        _ wrap: (Cause) -> KeyFileError, _ step: () throws(Cause) -> Result
    ) throws(KeyFileError) -> Result {
        do throws(Cause) {
            return try step()
        } catch {
            throw wrap(error)
        }
    }
}
