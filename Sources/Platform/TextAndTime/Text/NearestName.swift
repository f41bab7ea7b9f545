/// The name that a misspelt name was probably meant to be.
package enum NearestName {
    /// The most bytes of a name that is compared.
    private static let longest = 64

    /// Returns the nearest name by bytes that are inserted, removed, changed or swapped.
    ///
    /// It differs in at most two bytes, and in fewer than half of them.
    package static func of(_ name: String, among names: [String]) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.count <= longest else { return nil }
        let limit = min(2, (bytes.count - 1) / 2)
        let nearest = names.map { (name: $0, distance: distance(bytes, Array($0.utf8))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= limit else { return nil }
        return nearest.name
    }

    /// Returns "did you mean NAME? Allowed are NAMES", or "allowed are NAMES" if no name is near.
    package static func advice(for name: String, among names: [String]) -> String {
        let list = names.joined(separator: ", ")
        return of(name, among: names).map { "did you mean \($0)? Allowed are \(list)" } ?? "allowed are \(list)"
    }

    /// Returns "did you mean NAME?", or `otherwise` if no name is near.
    ///
    /// It is for more names than a sentence can list.
    package static func advice(for name: String, among names: [String], otherwise: String) -> String {
        of(name, among: names).map { "did you mean \($0)?" } ?? otherwise
    }

    /// Returns Levenshtein's distance, in which a swap of two neighbours counts once.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, byte) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (byte == other ? 0 : 1))
                if i > 0, j > 0, byte == right[j - 1], other == left[i - 1] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
