/// A row that this agent cannot have written; carries nothing of it.
struct UnreadableRow: Error, CustomStringConvertible {
    let table: String
    let column: String

    var description: String { "a row of \(table) has an unreadable \(column)" }
}
