package import DurableFiles

/// The reason why a key behind a URI could not be used.
///
/// It contains no PIN and no bytes of a key.
package struct ExternalKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// The file cannot be read, or other users could read it.
        case file(FileError)
        /// The file does not contain a private key; the text is OpenSSL's reason.
        case unreadable(String)
        /// The token or TPM answers, but does not have the key.
        case noSuchKey
        /// The URI matches more than one token, or more than one key.
        case ambiguous(String)
        /// The key can be used only with a PIN, and none was given.
        case needsPIN
        /// A PIN was given, but a process with access to the key can use it without one.
        case takesNoPIN
        case wrongPIN(TriesLeft)
        /// The token or TPM accepts no PIN any more, or none for some time.
        case pinLocked
        /// The token is not plugged in, or the TPM does not answer.
        case absent(String)
        /// This program does not support the kind of key or the PIN entry; the text says what it supports.
        case unsupported(String)
        /// The key differs from the key that was enrolled.
        case replaced
        /// The software that reaches the key is missing or not set up; the text says what to do.
        case notSetUp(String)
        /// A call failed for another reason.
        case failed(String)
    }

    /// The token's statement about further tries.
    package enum TriesLeft: Equatable, Sendable { case notTold, few, one }

    /// The URI, which contains no secret.
    package let uri: String
    package let reason: Reason

    package init(uri: KeyURI, _ reason: Reason) {
        (self.uri, self.reason) = (uri.text, reason)
    }

    package var description: String { "the key \(uri): \(problem)" }

    private var problem: String {
        switch reason {
        case .file(let cause): cause.description
        case .unreadable(let cause): "the file holds no private key, or a damaged one (\(cause)); restore it"
        case .noSuchKey: "there is no such key; check the URI"
        case .ambiguous(let what): "\(what); name it more narrowly in the URI"
        case .needsPIN: "it takes a PIN; enroll it with authnType pin"
        case .takesNoPIN: "it can be used without a PIN, so that none can be checked; enroll it with authnType presence"
        case .wrongPIN(let tries): "wrong PIN\(tries.text)"
        case .pinLocked: "its PIN is locked after too many wrong ones; unlock it with the token's own tools"
        case .absent(let what): what
        case .unsupported(let what): what
        case .replaced: "this is not the key that was enrolled; put that key back, or enroll again"
        case .notSetUp(let what): what
        case .failed(let what): what
        }
    }
}

extension ExternalKeyError.TriesLeft {
    fileprivate var text: String {
        switch self {
        case .notTold: ""
        case .few: "; the token locks it after a few more"
        case .one: "; the token locks it after one more"
        }
    }
}
