/// How often each of some words came; bounded, whoever makes up the words.
package struct WordCounts: Sendable, Equatable {
    /// The most words besides the known ones that are counted apart.
    static let limit = 64
    /// What further ones count as.
    static let other = "other"

    package private(set) var counts: [String: Int]
    private let room: Int

    /// - Parameter known: are there with 0 before they have come: who watches a number has to see it grow from there.
    init(known: some Sequence<String> = []) {
        counts = Dictionary(known.map { ($0, 0) }, uniquingKeysWith: +)
        room = counts.count + Self.limit
    }

    mutating func note(_ word: String) {
        counts[counts[word] != nil || counts.count < room ? word : Self.other, default: 0] += 1
    }
}
