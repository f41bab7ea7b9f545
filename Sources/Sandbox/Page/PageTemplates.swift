import Mustache
import PageServing

/// The templates (Mustache), which are the `.html` files beside this one.
enum PageTemplates {
    /// Escapes by scalars; Mustache's own way leaves a quotation mark that has a combining mark.
    private struct Escaping: MustacheContentType {
        func escapeText(_ text: String) -> String { PageText.escaped(text) }
    }

    private static let library: MustacheLibrary? = {
        MustacheContentTypes.register(Escaping(), named: "PAGE")
        let files = [
            ("head", PackageResources.head_html), ("home", PackageResources.home_html),
            ("notice", PackageResources.notice_html), ("purchase", PackageResources.purchase_html),
        ]
        var templates: [String: MustacheTemplate] = [:]
        for (name, bytes) in files {
            let text = "{{% CONTENT_TYPE:PAGE}}" + String(decoding: bytes, as: UTF8.self)
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
