import DurableFiles
package import IssuerProtocol

/// The system's public suffix list (Debian's package `publicsuffix`).
///
/// The list is read for each enrollment, so that an update counts at once and a start does not wait for it.
package struct PublicSuffixFile: Sendable {
    /// The most bytes that are read: four times the list's size.
    private static let mostBytes = 1 << 20

    private let path: String

    package init(at path: String = "/usr/share/publicsuffix/public_suffix_list.dat") { self.path = path }

    /// The current list, or `nil` if it cannot be used.
    package var list: PublicSuffixList? {
        guard let bytes = try? read() else { return nil }
        let list = PublicSuffixList(bytes)
        return list.hasRule ? list : nil
    }

    /// The reason why the list cannot be used, or `nil` if it can.
    package var problem: String? {
        do throws(FileError) {
            return PublicSuffixList(try read()).hasRule ? nil : "\(path) has no rule"
        } catch {
            return "\(error)"
        }
    }

    private func read() throws(FileError) -> [UInt8] {
        try DurableFile.read(path, maxBytes: Self.mostBytes, privacy: .published)
    }
}
