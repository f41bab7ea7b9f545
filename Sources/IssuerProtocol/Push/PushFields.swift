/// The header fields of a push as they came, each value without the blanks around it.
package struct PushFields: Sendable {
    private let fields: [(name: String, value: String)]

    /// Of a server that bounds their number and length.
    package init(_ fields: [(name: String, value: String)]) {
        self.fields = fields.map { (name: $0.name.lowercased(), value: $0.value) }
    }

    /// The values of all fields with this name, which is in lower case.
    subscript(name: String) -> [String] {
        fields.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
    }
}
