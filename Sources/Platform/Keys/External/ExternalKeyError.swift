package import DurableFiles

/// Why a key behind a URI could not be used.
///
/// Carries no PIN and no bytes of a key.
package struct ExternalKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// The file cannot be read, or others could.
        case file(FileError)
        /// The bytes of the file are no private key; the text is OpenSSL's reason.
        case unreadable(String)
        /// The token or TPM answers, but has no such key.
        case noSuchKey
        /// The URI fits more than one token, or more than one key.
        case ambiguous(String)
        /// The key is used only with a PIN, and none was given.
        case needsPIN
        /// A PIN was given, but whoever gets at the key can use it without one.
        case takesNoPIN
        case wrongPIN(TriesLeft)
        /// The token or TPM takes no PIN any more, or for some time.
        case pinLocked
        /// The token is not plugged in, or the TPM does not answer.
        case absent(String)
        /// A kind of key, or a way to enter the PIN, that this program has not; the text says what it has.
        case unsupported(String)
        /// It is another key than the one that was enrolled.
        case replaced
        /// What is loaded to reach the key is missing or not set up; says what to do.
        case notSetUp(String)
        /// A call failed for another reason.
        case failed(String)
    }

    /// What a token says about further tries.
    package enum TriesLeft: Equatable, Sendable { case notTold, few, one }

    /// The URI, which holds no secret.
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
