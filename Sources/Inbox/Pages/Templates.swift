import Mustache

/// The templates (Mustache; `{{…}}` is escaped), which are the `.html` files beside this one.
enum Templates {
    private static let library: MustacheLibrary? = {
        let files = [
            ("head", PackageResources.head_html), ("inbox", PackageResources.inbox_html),
            ("notice", PackageResources.notice_html), ("card", PackageResources.card_html),
            ("copy", PackageResources.copy_html), ("test", PackageResources.test_html),
            ("wire", PackageResources.wire_html), ("evidence", PackageResources.evidence_html),
            ("events", PackageResources.events_html), ("export", PackageResources.export_html),
        ]
        var templates: [String: MustacheTemplate] = [:]
        for (name, bytes) in files {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let template = try? MustacheTemplate(string: text) else { return nil }
            templates[name] = template
        }
        return MustacheLibrary(templates: templates)
    }()

    /// A template that cannot be read is a defect that the tests see; the page is empty then.
    static func render(_ name: String, _ context: [String: Any]) -> String {
        library?.render(context, withTemplate: name) ?? ""
    }
}
