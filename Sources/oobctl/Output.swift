import Control
import Glibc

/// The only place that prints: data on standard output, messages on standard error.
struct Output {
    let json: Bool

    /// One message as a line of JSON, or what `text` makes of it for people; nothing for an empty text.
    func data<Message: Encodable>(_ message: Message, text: (Message) -> String) throws(ClientFailure) {
        let line = json ? try Self.json(message) : text(message)
        guard line.isEmpty || Self.write(line + "\n", to: STDOUT_FILENO) else {
            throw .unclear("Standard output cannot be written; what was asked of the agent is done.")
        }
    }

    /// Octets as they came.
    func octets(_ octets: [UInt8]) throws(ClientFailure) {
        guard Self.write(octets, to: STDOUT_FILENO) else { throw .unclear("Standard output cannot be written.") }
    }

    /// A sentence for people, which no script reads; nothing with `--json`.
    func message(_ text: String) {
        if !json { note(text) }
    }

    /// A sentence for people about what goes on, beside JSON too: a script does not read it.
    func news(_ text: String) { note(text) }

    /// `subject` is the ID that it is about, where there are several.
    func error(_ failure: ClientFailure, about subject: String? = nil) {
        let message = subject.map { "\($0): \(failure)" } ?? "\(failure)"
        do throws(ClientFailure) {
            guard json else { return note("Error: \(message)") }
            _ = Self.write(try Self.json(ErrorView(failure.d1Code, message)) + "\n", to: STDERR_FILENO)
        } catch {
            note("Error: \(error)")
        }
    }

    func usageError(_ text: String) {
        error(.refused(ControlError(.invalidArgument, text)))
    }

    /// Where standard error cannot be written there is nobody left to tell.
    private func note(_ text: String) {
        _ = Self.write(TerminalText.sentence(text) + "\n", to: STDERR_FILENO)
    }

    private static func json(_ message: some Encodable) throws(ClientFailure) -> String {
        do throws(ControlError) {
            return String(decoding: try ControlJSON.encode(message), as: UTF8.self)
        } catch {
            throw .refused(error)
        }
    }

    /// Writes all of the text without a buffer, so that data and messages keep their order.
    private static func write(_ text: String, to descriptor: Int32) -> Bool { write(Array(text.utf8), to: descriptor) }

    static func write(_ octets: [UInt8], to descriptor: Int32) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
