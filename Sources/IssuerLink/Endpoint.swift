import StrictJSON

/// An endpoint's URL, to which paths and queries are appended; a query that it has already is kept.
struct Endpoint {
    private let base: Substring
    private let query: Substring?

    init(_ url: String) {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        base = parts[0]
        query = parts.count > 1 ? parts[1] : nil
    }

    /// `path` must be fit for a URL; the values of `added` are encoded.
    func url(path: String = "", query added: [(name: String, value: String)] = []) -> String {
        let pairs = added.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        let whole = (query.map { [String($0)] } ?? []) + pairs
        return base + path + (whole.isEmpty ? "" : "?" + whole.joined(separator: "&"))
    }
}
