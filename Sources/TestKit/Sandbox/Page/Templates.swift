import PageServing

/// The templates: the `.html` files beside this file.
enum Templates {
    private static let files = PageTemplates([
        ("head", PackageResources.head_html), ("home", PackageResources.home_html),
        ("notice", PackageResources.notice_html), ("purchase", PackageResources.purchase_html),
    ])

    static func render(_ name: String, _ context: [String: Any]) -> String { files.render(name, context) }
}
