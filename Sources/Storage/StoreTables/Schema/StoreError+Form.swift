package import Records

extension StoreError {
    /// The error for tables that this version cannot use.
    package init(_ form: StoreFormError, at place: String) {
        switch form {
        case .unknown(let table): self.init(.unknownForm, at: place, detail: "it has a table \(table)")
        case .unreleased: self.init(.unknownForm, at: place, detail: "its tables are not those of this version")
        case .newer(let form): self.init(.newerForm, at: place, detail: "its tables have form \(form)")
        }
    }
}
