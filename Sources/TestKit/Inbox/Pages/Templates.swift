import PageServing

/// The templates: the `.html` files beside this file.
enum Templates {
    private static let files = PageTemplates([
        ("head", PackageResources.head_html), ("inbox", PackageResources.inbox_html),
        ("notice", PackageResources.notice_html), ("card", PackageResources.card_html),
        ("copy", PackageResources.copy_html), ("test", PackageResources.test_html),
        ("wire", PackageResources.wire_html), ("evidence", PackageResources.evidence_html),
        ("events", PackageResources.events_html), ("export", PackageResources.export_html),
        ("refusal", PackageResources.refusal_html),
    ])

    static func render(_ name: String, _ context: [String: Any]) -> String { files.render(name, context) }
}
