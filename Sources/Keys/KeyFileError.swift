/// Why a key file could not be written, read or removed.
///
/// Never carries octets of it.
package enum KeyFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file itself; says the path and what to do.
    case file(FileError)
    case seal(path: String, SealError)
    case key(path: String, KeyError)
    case openSSL(path: String, OpenSSLError)

    package var description: String {
        switch self {
        case .file(let cause): "key file \(cause)"
        case .seal(let path, let cause): "key file \(path): \(cause); give the secret that it was written under"
        case .key(let path, let cause): "key file \(path): \(cause); restore the file from a backup"
        case .openSSL(let path, let cause): "key file \(path): \(cause)"
        }
    }

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
