import DurableFiles
package import IssuerProtocol

/// The system's public suffix list (Debian's package `publicsuffix`), as it is read once at start.
package struct PublicSuffixFile: Sendable {
    /// The most bytes that are read: four times as many as the list has.
    private static let mostBytes = 1 << 20

    /// `nil` if there is none that can be used.
    package let list: PublicSuffixList?
    /// Why there is none; `nil` if there is one.
    package let problem: String?

    package init(at path: String = "/usr/share/publicsuffix/public_suffix_list.dat") {
        do throws(FileError) {
            let list = PublicSuffixList(try DurableFile.read(path, maxBytes: Self.mostBytes, privacy: .published))
            self.list = list.count > 0 ? list : nil
            problem = list.count > 0 ? nil : "\(path) has no rule"
        } catch {
            (list, problem) = (nil, "\(error)")
        }
    }
}
