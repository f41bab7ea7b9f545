/// How often each of some words came; bounded, whoever makes up the words.
package struct WordCounts: Sendable, Equatable {
    /// The most words that are counted apart.
    static let most = 64
    /// What further ones count as.
    static let other = "other"

    package private(set) var counts: [String: Int] = [:]

    mutating func note(_ word: String) {
        counts[counts[word] != nil || counts.count < Self.most ? word : Self.other, default: 0] += 1
    }
}
