import Mustache

/// Mustache templates that escape each `{{…}}` for HTML and XML, including attribute values in quotes.
package struct PageTemplates: Sendable {
    /// An escaping by scalars: Mustache's own skips a quotation mark that is followed by a combining mark.
    private struct Escaping: MustacheContentType {
        func escapeText(_ text: String) -> String { PageText.escaped(text) }
    }

    /// Mustache registers content types for the whole process, so this runs once.
    private static let contentType: String = {
        MustacheContentTypes.register(Escaping(), named: "PAGE")
        return "{{% CONTENT_TYPE:PAGE}}"
    }()

    private let library: MustacheLibrary?

    /// - Parameter files: the templates by name, which can also include one another (`{{> name}}`).
    package init(_ files: [(name: String, text: String)]) {
        var templates: [String: MustacheTemplate] = [:]
        for file in files { templates[file.name] = try? MustacheTemplate(string: Self.contentType + file.text) }
        library = templates.count == files.count ? MustacheLibrary(templates: templates) : nil
    }

    package init(_ files: [(name: String, bytes: [UInt8])]) {
        self.init(files.map { (name: $0.name, text: String(decoding: $0.bytes, as: UTF8.self)) })
    }

    /// Renders a template; if a template cannot be read, which is a defect that tests find, the page is empty.
    package func render(_ name: String, _ context: [String: Any]) -> String {
        library?.render(context, withTemplate: name) ?? ""
    }
}
