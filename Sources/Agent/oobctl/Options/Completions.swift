import ArgumentParser
import Control
import FoundationEssentials

/// Shell completions for IDs, from the agent's current state.
///
/// If the agent is away, or does not answer, there are no completions and no error.
extension CompletionKind {
    static let enrollments = agent { client, _ in
        try await client.enrollments().map { Candidate($0.id, "\($0.name), \($0.issuer)") }
    }

    static let pendingRequests = agent { client, typed in
        Candidate.requests(try await client.requests(all: false, limit: limit, enrollment: nil), typed)
    }

    static let allRequests = agent { client, typed in
        Candidate.requests(try await client.requests(all: true, limit: limit, enrollment: nil), typed)
    }

    private static let limit = 100

    private static func agent(
        _ read: @escaping @Sendable (ControlClient, String) async throws -> [Candidate]
    ) -> CompletionKind {
        .custom { words, _, typed in
            let option = words.firstIndex(of: "--socket").flatMap { words.dropFirst($0 + 1).first }
            let environment = ProcessInfo.processInfo.environment
            guard let client = try? ControlClient(socketFlag: option, environment: environment),
                let candidates = try? await read(client, typed)
            else { return [] }
            return candidates.compactMap { $0.text(for: CompletionShell.requesting) }
        }
    }
}

/// A completion and its description.
private struct Candidate {
    let id: String
    let meaning: String

    init(_ id: String, _ meaning: String) { (self.id, self.meaning) = (id, meaning) }

    /// The requests by ID if one begins with the typed text, otherwise by acsTransId.
    static func requests(_ requests: [RequestView], _ typed: String) -> [Candidate] {
        let own = requests.map { Candidate($0.id, $0.meaning) }
        if own.contains(where: { $0.id.hasPrefix(typed) }) { return own }
        return requests.map { Candidate($0.acsTransId, $0.meaning) }
    }

    /// The completion in the shell's format, or `nil` for an invalid ID: bash would expand it as words.
    func text(for shell: CompletionShell?) -> String? {
        guard (try? RequestSelector(id: id)) != nil else { return nil }
        let meaning = TerminalText.escaped(meaning)
        return switch shell {
        case .zsh?: "\(id):\(meaning)"
        case .fish?: "\(id)\t\(meaning)"
        default: id
        }
    }
}

extension RequestView {
    /// The description, such as `USD 1.00 to CoffeeHouse2`.
    fileprivate var meaning: String {
        [amountText, merchantName].compactMap(\.self).joined(separator: " to ")
    }
}
