/// Statements with SQLite's parameters, as PostgreSQL has them.
enum PostgresPlaceholders {
    /// `?` becomes the parameter after the largest so far, as in SQLite, and `?2` becomes `$2`.
    ///
    /// No text in our statements holds a question mark, so each is a parameter.
    static func numbered(_ sql: String) -> String {
        var (numbered, largest) = ("", 0)
        var rest = Substring(sql)
        while let mark = rest.firstIndex(of: "?") {
            numbered += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let number = Int(digits) ?? largest + 1
            largest = max(largest, number)
            numbered += "$\(number)"
            rest = rest[digits.endIndex...]
        }
        return numbered + rest
    }
}
