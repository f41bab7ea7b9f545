import ArgumentParser
import Control

struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "The agent's journal: what happened, in a chain that shows any change.",
        subcommands: [Verify.self, AuditExport.self, Key.self])

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check the whole chain; exits 1 and names the first entry that is not as it was written.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                let audit = try await client.verifyAudit()
                try output.data(audit, text: Self.text)
                guard !audit.whole else { return .done }
                output.message(audit.fault?.message ?? "The journal is not whole.")
                return .failed
            }
        }

        /// Empty if the chain is not whole: then a message says so.
        private static func text(_ audit: AuditView) -> String {
            guard audit.whole, let head = audit.head else { return "" }
            guard let hosts = audit.hosts else { return text(audit.entries, head, audit.floor) }
            return hosts.compactMap { chain in
                chain.head.map { "\(chain.host): " + text(chain.entries, $0, chain.floor) }
            }.joined(separator: "\n")
        }

        private static func text(_ entries: Int, _ head: AuditMarkView, _ floor: AuditMarkView?) -> String {
            let pruned = floor.map { "; those up to \($0.seq) were removed for their age" } ?? ""
            return "\(entries) entries are as they were written\(pruned).\nhead \(head.seq) \(head.digest)"
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key",
            abstract: "Print the public key (PEM) that the journal's head is signed with.")

        @Option(help: ArgumentHelp("The key of this host's chain, of several.", valueName: "name"))
        var host: String?

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                let key = try await key(client)
                try output.data(key) { $0.publicKey.trimmingLineEnd() }
                return .done
            }
        }

        private func key(_ client: ControlClient) async throws(ClientError) -> AuditKeyView {
            guard let host else { return try await client.auditKey() }
            let chains = try await client.auditHosts().hosts
            guard let chain = chains.first(where: { $0.host == host }) else {
                throw .refused(ControlError(.notFound, "the journal has no chain of a host with the name \(host)"))
            }
            guard let key = chain.publicKey else {
                throw .refused(
                    ControlError(.failed, "the audit key of \(host) is gone, or is not under this agent's secret"))
            }
            return AuditKeyView(publicKey: key)
        }
    }
}

extension String {
    fileprivate func trimmingLineEnd() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}
