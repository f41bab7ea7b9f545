import Control
import Prompting

/// The confirmation by a person at a terminal, before a key is made or anything is sent.
struct EnrollQuestion {
    private let issuer: ShownIssuer
    private let command: EnrollCommand
    private let authnType: Enroll.AuthnType
    /// The number of enrollments, or `nil` for a single one.
    private let count: Int?

    init(_ command: EnrollCommand, authnType: Enroll.AuthnType, count: Int? = nil) throws(ClientError) {
        do throws(ControlError) { issuer = try ShownIssuer(command.issuer) } catch { throw .refused(error) }
        self.command = command
        self.authnType = authnType
        self.count = count
    }

    /// Returns if the person agrees, or if there is no terminal.
    ///
    /// - Throws: `ClientError` with D1's number for a cancellation, if the person does not agree.
    func ask() throws(ClientError) {
        guard let terminal = Terminal() else { return }
        let refusal = ControlError(
            .failed, "Not confirmed; nothing was sent and no key was made.", code: .cancelled)
        let question =
            count.map { "Make up to \($0) keys and enroll them" }
            ?? (command.keyUri == nil ? "Make a key and enroll it" : "Enroll that key")
        let agrees = try terminal.agrees(
            to: "\(question) at \(issuer.origin ?? issuer.text)?", about: lines, else: refusal)
        if !agrees { throw .refused(refusal) }
    }

    private var lines: [ScreenLine] {
        Fields([
            ("Issuer", issuer.text),
            ("Origin", issuer.origin ?? "none: this is no https URL, and the agent will not take it"),
            ("Note", issuer.isLoopback ? "the issuer is a program on this computer (loopback), as for tests" : nil),
            ("Note", issuer.isInternational ? "xn-- stands for other letters than these; compare the origin" : nil),
            ("Trusted roots", command.caFile == nil ? nil : "those of --ca-file, instead of the system's"),
            ("Name", command.name),
            ("Key", command.keyUri ?? "a new one, which the agent makes and keeps"),
            ("An approval takes", whatAnApprovalTakes),
        ]).lines
    }

    private var whatAnApprovalTakes: String {
        switch authnType {
        case .pin: "a PIN"
        case .presence: "whoever may use the agent's socket; no PIN"
        case .test: "no PIN, and yet it claims that the user was verified (for tests)"
        }
    }
}
