import IssuerProtocol

extension SettingSource {
    /// The most entries of a list.
    private static let maxEntries = 64

    private static let example = "\"https://bank.example, https://card.example:8443\""

    /// The settings that are lists: their text has commas, and in a config file they may be a sequence too.
    static let lists: [Setting] = [.mayLook, .mayDecide, .issuers]

    /// The entries of a list, without the blanks around them.
    ///
    /// - Parameter advice: what there are too many of, and what to do about it.
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

    /// The issuers that enroll may name; `nil` for any.
    func issuers() throws(StartError) -> [IssuerURL]? {
        guard let found = find(.issuers) else { return nil }
        var issuers: [IssuerURL] = []
        for entry in try Self.entries(of: found, "issuers") {
            // An empty list allows nothing: that is more likely a mistake than a wish.
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
