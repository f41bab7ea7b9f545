import IssuerProtocol

extension SettingSource {
    /// The most entries of a list.
    private static let maxEntries = 64

    private static let example = "\"https://bank.example, https://card.example:8443\""

    /// The settings that are lists: text with commas, or a sequence in a config file.
    static let lists: [Setting] = [.mayLook, .mayDecide, .issuers]

    /// The entries of a list, trimmed.
    ///
    /// - Parameter advice: the kind of entries, and what to do if there are too many of them.
    static func entries(of found: Found, _ advice: String) throws(StartError) -> [String] {
        let entries = found.value.split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        guard entries.count <= maxEntries else {
            throw StartError(found.status, "\(found.place): has more than \(maxEntries) \(advice)")
        }
        return entries
    }

    private static func trimmed(_ text: Substring) -> String {
        String(String(text.drop { $0 == " " }.reversed()).drop { $0 == " " }.reversed())
    }

    /// The issuers that enroll may name, or `nil` for any.
    func issuers() throws(StartError) -> [IssuerURL]? {
        guard let found = find(.issuers) else { return nil }
        var issuers: [IssuerURL] = []
        for entry in try Self.entries(of: found, "issuers") {
            // An empty list would forbid all issuers: that is more likely a mistake than the intent.
            guard !entry.isEmpty else {
                throw StartError(found.status, "\(found.place): must be origins, such as \(Self.example)")
            }
            do throws(ProtocolError) {
                issuers.append(try IssuerURL(written: entry))
            } catch {
                throw StartError(found.status, "\(found.place): \(entry.debugDescription): \(error.what)")
            }
        }
        return issuers
    }
}
