import ArgumentParser
import Control
import Glibc

struct AuditExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the journal, a line of JSON an entry, oldest first.",
        usage: "oobctl audit export [<options>]",
        discussion: """
            If several hosts share a database, each of them has a chain. They are printed one after the other, and the \
            first member of each line, chain, names the host. With --host it is the chain of one host, without that \
            member.

            Examples:
              oobctl audit export                           all of it
              oobctl audit export --after 17                the entries after number 17
              oobctl audit export --after alpha:17,beta:4   of several hosts
              oobctl audit export --host alpha              what alpha has written
            """)
    private static let page = 1_000

    @Option(
        help: ArgumentHelp(
            "Only entries after this number, or this place in each host's chain.", valueName: "cursor"))
    var after = "0"

    @Option(help: ArgumentHelp("Only the chain of this host.", valueName: "name"))
    var host: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard CursorText(after) == nil else { return }
        throw ValidationError("--after takes a number of 0 or more, or a cursor such as alpha:17,beta:4.")
    }

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            guard let after = CursorText(after) else { return .failed }
            if let host {
                try await Self.write(client, output, after, of: host)
                return .done
            }
            let chains = try await client.auditHosts().hosts
            guard chains.count > 1 else {
                try await Self.write(client, output, after)
                return .done
            }
            guard !after.isOfOneChain else {
                throw .refused(ControlError(.invalidArgument, Self.ambiguity(after, chains)))
            }
            for chain in chains { try await Self.write(client, output, after, of: chain.host, named: true) }
            return .done
        }
    }

    private static func ambiguity(_ after: CursorText, _ chains: [AuditChainView]) -> String {
        let host = chains.first?.host ?? ""
        return "\(after.text) alone is no place in the chains of several hosts: give it with its host, such as "
            + "\(host):\(after.text), or say whose chain it is with --host"
    }

    /// Prints one chain.
    ///
    /// Only a page of it is in memory.
    ///
    /// - Parameters:
    ///   - host: the host whose chain is printed. `nil` for the only chain.
    ///   - named: adds the name of the host to each line.
    private static func write(
        _ client: ControlClient, _ output: Output, _ after: CursorText, of host: String? = nil, named: Bool = false
    ) async throws(ClientError) {
        var last: Int64?
        while true {
            let place = last.map { CursorText($0) } ?? after
            let lines = try await client.auditEntries(after: place, of: host, limit: page)
            if let first = lines.first, let last, try AuditLine.seq(of: first) != last + 1 {
                throw .unclear("Entries were removed for their age meanwhile: export again.")
            }
            let chain = named ? host : nil
            try output.bytes(lines.flatMap { line in printed(chain.map { AuditLine.line(line, of: $0) } ?? line) })
            guard lines.count == page, let end = lines.last else { return }
            last = try AuditLine.seq(of: end)
        }
    }

    /// Prints a line byte for byte, because its digest is signed.
    ///
    /// For a terminal, escapes its control characters.
    private static func printed(_ line: [UInt8]) -> [UInt8] {
        guard isatty(STDOUT_FILENO) == 1 else { return line + [UInt8(ascii: "\n")] }
        return Array((TerminalText.json(String(decoding: line, as: UTF8.self)) + "\n").utf8)
    }
}
