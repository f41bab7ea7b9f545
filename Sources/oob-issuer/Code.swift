import ArgumentParser
import Foundation
import Glibc
import QRCode
import Sandbox

struct Code: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make an enrollment code, and print it and the link that carries it.",
        usage: "oob-issuer code [<options>]")

    @OptionGroup var sandbox: SandboxOptions

    @Option(
        help: ArgumentHelp("none (the default), indirect, direct or enterprise.", valueName: "conveyance"),
        completion: .list(["none", "indirect", "direct", "enterprise"]))
    var attestation: String?

    @Option(
        help: ArgumentHelp("required, preferred (the default) or discouraged.", valueName: "requirement"),
        completion: .list(["required", "preferred", "discouraged"]))
    var userVerification: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the code can be used, 0 to 86400; 600 unless given.", valueName: "seconds"))
    var expiresIn: String?

    @Flag(
        inversion: .prefixedNo, help: "Show the link as a QR code too, unless --json is given. Default: at a terminal.")
    var qr: Bool?

    func validate() throws {
        let expiresIn = try lifetime()
        try FlagNames.check { () throws(SandboxClient.OrderError) in
            try SandboxClient.checkEnrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
    }

    private func lifetime() throws -> Int64? { try FlagNames.seconds(expiresIn, in: CodeOrder.lifetime) }

    func run() async throws {
        let client = try sandbox.client()
        let expiresIn = try lifetime()
        let issued = try await reporting { () throws(SandboxClient.CallError) in
            try await client.enrollmentCode(
                attestation: attestation, userVerification: userVerification, expiresIn: expiresIn)
        }
        try Output.data(sandbox.json ? issued.json : "\(issued.code)\n\(issued.link)")
        if !sandbox.json { try draw(issued.link, TerminalLook(ProcessInfo.processInfo.environment)) }
    }

    /// A code that does not fit is only spoken of: the link is there.
    private func draw(_ link: String, _ look: TerminalLook) throws(ExitCode) {
        guard qr ?? look.isTerminal else { return }
        guard let code = QRCode(Array(link.utf8)) else {
            return Output.message("no QR code: it holds \(QRCode.maxBytes) bytes, and the link is longer")
        }
        let width = look.drawing.width(of: code)
        if let columns = look.columns, width > columns {
            return Output.message("no QR code: it takes \(width) columns, and the terminal has \(columns)")
        }
        try Output.data(look.drawing.lines(of: code).joined(separator: "\n"))
    }
}

/// What standard output is drawn on.
struct TerminalLook {
    /// The width if the terminal does not tell it.
    private static let usualColumns = 80

    let isTerminal: Bool
    let drawing: QRDrawing
    /// Nil if it is not a terminal: then there is no edge.
    let columns: Int?

    /// By the locale (locale(7)), `TERM` and `NO_COLOR`.
    init(_ environment: [String: String]) {
        isTerminal = isatty(STDOUT_FILENO) == 1
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let isUTF8 = locale.lowercased().hasSuffix("utf-8") || locale.lowercased().hasSuffix("utf8")
        let takesEscapes = ![nil, "", "dumb"].contains(environment["TERM"])
        let wantsColours = environment["NO_COLOR", default: ""].isEmpty
        drawing = QRDrawing(isUTF8 ? .halfBlocks : .pairs, isColoured: isTerminal && takesEscapes && wantsColours)
        columns = isTerminal ? Self.columns : nil
    }

    private static var columns: Int {
        var size = winsize()
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : usualColumns
    }
}
