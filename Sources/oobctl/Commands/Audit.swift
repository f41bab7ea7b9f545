import ArgumentParser
import Control
import Glibc

struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "The agent's journal: what happened, in a chain that shows any change.",
        subcommands: [Verify.self, Export.self, Key.self])

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

        /// Empty if it is not whole: then a message says so.
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

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print the journal, a line of JSON an entry, oldest first.")
        private static let page = 1_000

        @Option(help: ArgumentHelp("Only entries after this one.", valueName: "seq"))
        var after: Int64 = 0

        @OptionGroup var common: CommonOptions

        func validate() throws {
            guard after < 0 else { return }
            throw ValidationError("--after takes a number of 0 or more.")
        }

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                var last = after
                while true {
                    let lines = try await client.auditEntries(after: last, limit: Self.page)
                    if let first = lines.first, last > after, try AuditLine.seq(of: first) != last + 1 {
                        throw .unclear("Entries were removed for their age meanwhile: export again.")
                    }
                    try output.bytes(lines.flatMap(Self.printed))
                    guard lines.count == Self.page, let end = lines.last else { return .done }
                    last = try AuditLine.seq(of: end)
                }
            }
        }

        /// A line byte for byte, since its digest is what is signed; at a terminal without anything that it would obey.
        private static func printed(_ line: [UInt8]) -> [UInt8] {
            guard isatty(STDOUT_FILENO) == 1 else { return line + [UInt8(ascii: "\n")] }
            return Array((TerminalText.json(String(decoding: line, as: UTF8.self)) + "\n").utf8)
        }
    }

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key",
            abstract: "Print the public key (PEM) that the journal's head is signed with.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                try output.data(try await client.auditKey()) { $0.publicKey.trimmingLineEnd() }
                return .done
            }
        }
    }
}

extension String {
    fileprivate func trimmingLineEnd() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}
