import LinuxProcess
import StrictJSON
import Threads

/// A command of the tested side for a test: a shell command or an HTTP call.
package enum TestedCommand: Sendable {
    case shell(String)
    case post(url: String, headers: [Header])

    package struct Header: Sendable {
        let name: String
        let value: String
    }

    /// The time limit of a command.
    static let limit = Duration.seconds(60)
    private static let maxOutput = 1_048_576

    /// Reads a command, or `{post: URL, headers: {NAME: VALUE}}`.
    package init(_ node: CaseNode) throws(CaseFileError) {
        guard node.isMapping else {
            let command = try node.text()
            guard !command.isEmpty else { throw node.error("must be a command, or `post: URL`") }
            self = .shell(command)
            return
        }
        let members = try node.members(["post", "headers"])
        guard let url = try members["post"]?.text(), url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw node.error("post: must be an http or https URL")
        }
        var headers: [Header] = []
        for (name, value) in try members["headers"]?.members() ?? [:] {
            headers.append(Header(name: name, value: try value.text()))
        }
        self = .post(url: url, headers: headers.sorted { $0.name < $1.name })
    }

    /// Runs the command and returns its output, without white space around it.
    ///
    /// - Parameters:
    ///   - name: the purpose of the command, by its name in the file.
    ///   - variables: variables added to the environment of a shell command.
    ///   - mayFail: whether an exit status other than 0, or an answer other than 2xx, is a valid result.
    /// - Throws: ``CaseEnd/broken(_:)`` if it fails, prints too much or does not end in time.
    func output(
        _ name: String, of input: JSONObject, variables: [String: String], wire: Wire, trace: Trace,
        mayFail: Bool = false
    ) async throws -> CommandOutput {
        switch self {
        case .shell(let command):
            return try await shellOutput(
                command, name, input: input, variables: variables, secrets: wire.secrets, trace: trace, mayFail: mayFail
            )
        case .post(let url, let headers):
            let answer: WireAnswer
            do {
                answer = try await wire.answer(
                    "POST", url, headers: headers.map { ($0.name, $0.value) }, body: input.serialized(),
                    patience: 30, name: "the call for `\(name)`", trace: trace)
            } catch { throw CaseEnd.broken("the call for `\(name)` \(error)") }
            guard (200..<300).contains(answer.status) else {
                if mayFail { return CommandOutput(answer.body, isDone: false) }
                throw CaseEnd.broken("the call for `\(name)` answered \(answer.shown)")
            }
            return CommandOutput(answer.body)
        }
    }

    private func shellOutput(
        _ command: String, _ name: String, input: JSONObject, variables: [String: String], secrets: KnownSecrets,
        trace: Trace, mayFail: Bool
    ) async throws -> CommandOutput {
        let began = ContinuousClock.now
        let ran: (bytes: [UInt8]?, status: ShellRun.Status?)
        do {
            let shell = try ShellRun(command, variables: variables, input: input.serialized())
            let end = began + Self.limit
            ran = try await withTaskCancellationHandler {
                try await OwnThread.perform {
                    let bytes = shell.bytes(upTo: Self.maxOutput, until: end)
                    if bytes.map({ $0.count > Self.maxOutput }) ?? true { shell.kill() }
                    return (bytes, shell.status(until: end))
                }
            } onCancel: {
                shell.kill()
            }
        } catch { throw CaseEnd.broken("the command for `\(name)` cannot be started: \(error)") }
        func note(_ received: String) {
            let (sent, printed) = (input.serialized(), ran.bytes ?? [])
            for body in [sent, printed] { secrets.add(from: body) }
            // Recorded by its name: the command line may contain a password of the tested side.
            trace.add(
                Exchange(
                    sent: "the command for `\(name)`", sentBody: sent, received: received, receivedBody: printed,
                    milliseconds: Int(began.duration(to: .now) / .milliseconds(1))))
        }
        switch ran {
        case (nil, _), (_, nil):
            note("did not end")
            throw CaseEnd.broken("the command for `\(name)` did not end within \(Self.limit.components.seconds) s")
        case (let bytes?, _) where bytes.count > Self.maxOutput:
            note("printed too much")
            throw CaseEnd.broken("the command for `\(name)` printed more than \(Self.maxOutput) bytes")
        case (let bytes?, .exited(0)?):
            note("exit 0")
            return CommandOutput(bytes)
        case (let bytes?, .exited(let status)?):
            note("exit \(status)")
            if mayFail { return CommandOutput(bytes, isDone: false) }
            throw CaseEnd.broken("the command for `\(name)` exited with status \(status)")
        case (_, .killed(let signal)?):
            note("signal \(signal)")
            throw CaseEnd.broken("the command for `\(name)` was ended by signal \(signal)")
        }
    }
}

/// The output of a command: a text, or one JSON object.
struct CommandOutput: Sendable {
    /// The output without white space around it.
    let text: String
    let object: JSONObject?
    /// Whether it succeeded, by its exit status or its HTTP status.
    let isDone: Bool

    init(_ bytes: [UInt8], isDone: Bool = true) {
        self.isDone = isDone
        object = try? JSONReader.object(bytes, limits: JSONLimits(maxBytes: 1_048_576, maxValues: 100_000))
        let text = String(decoding: bytes, as: UTF8.self)
        let scalars = text.unicodeScalars
        let isText: (Unicode.Scalar) -> Bool = { !$0.properties.isWhitespace }
        let (first, last) = (scalars.firstIndex(where: isText), scalars.lastIndex(where: isText))
        self.text = first.flatMap { first in last.map { String(scalars[first...$0]) } } ?? ""
    }

    /// The output as input for another command.
    var json: JSONValue { object.map(JSONValue.object) ?? .string(text) }
}
