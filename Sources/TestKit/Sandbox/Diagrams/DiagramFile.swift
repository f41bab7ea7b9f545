import DurableFiles
import Glibc
package import SequenceDiagrams

/// The file for a diagram.
package struct DiagramFile: Sendable {
    private let path: String

    /// Throws unless the name ends in `.svg`.
    package init(_ name: String) throws(SandboxClient.OrderError) {
        let file = name.split(separator: "/", omittingEmptySubsequences: false).last?.lowercased() ?? ""
        guard file.hasSuffix(".svg"), file != ".svg" else {
            throw SandboxClient.OrderError(description: "must be a file name that ends in .svg")
        }
        path = name
    }

    /// Writes the whole file, or leaves the existing file unchanged.
    package func write(_ diagram: SequenceDiagram) throws(SandboxClient.OrderError) {
        do throws(FileError) {
            try DurableFile.write(Array(diagram.svg.utf8), to: path, mode: Self.mode, replacing: true)
        } catch { throw SandboxClient.OrderError(description: error.description) }
    }

    /// The mode of a new file of this process.
    private static var mode: UInt32 {
        // The mask can only be read by setting it (umask(2)).
        let mask = umask(0o077)
        umask(mask)
        return 0o666 & ~mask
    }
}
