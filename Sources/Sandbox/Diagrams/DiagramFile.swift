import DurableFiles
import Glibc
package import SequenceDiagrams

/// Where a diagram goes, and so in which form.
package enum DiagramFile: Sendable, Equatable {
    case standardOutput
    case text(String)
    case svg(String)

    /// Throws unless the name ends in `.svg` or `.txt`, or is `-`.
    package init(_ name: String) throws(SandboxClient.OrderError) {
        switch name.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)?.lowercased() ?? "" {
        case "-" where name == "-": self = .standardOutput
        case let file where file.hasSuffix(".svg") && file != ".svg": self = .svg(name)
        case let file where file.hasSuffix(".txt") && file != ".txt": self = .text(name)
        default:
            throw SandboxClient.OrderError(
                description: "must be a file name that ends in .svg or .txt, or - for text on standard output")
        }
    }

    /// Writes the whole file, or leaves the one that is there; nothing for standard output.
    package func write(_ diagram: SequenceDiagram) throws(SandboxClient.OrderError) {
        let (path, content): (String, String)
        switch self {
        case .standardOutput: return
        case .text(let file): (path, content) = (file, diagram.text + "\n")
        case .svg(let file): (path, content) = (file, diagram.svg)
        }
        do throws(FileError) {
            try DurableFile.write(Array(content.utf8), to: path, mode: Self.mode, replacing: true)
        } catch { throw SandboxClient.OrderError(description: error.description) }
    }

    /// As a new file of this process has it.
    private static var mode: UInt32 {
        // The mask can only be read by setting it (umask(2)).
        let mask = umask(0o077)
        umask(mask)
        return 0o666 & ~mask
    }
}
