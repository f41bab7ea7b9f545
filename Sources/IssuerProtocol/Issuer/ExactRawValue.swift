extension RawRepresentable where RawValue == String {
    /// The case whose raw value has the same bytes: `init(rawValue:)` compares by Unicode equivalence.
    init?(exactly text: String) {
        guard let value = Self(rawValue: text), value.rawValue.utf8.elementsEqual(text.utf8) else { return nil }
        self = value
    }
}
