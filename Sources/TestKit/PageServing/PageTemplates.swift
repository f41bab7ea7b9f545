import Mustache

/// Templates (Mustache) whose `{{…}}` are escaped for HTML and XML, also within an attribute's quotes.
package struct PageTemplates: Sendable {
    /// Escapes by scalars; Mustache's own way leaves a quotation mark that has a combining mark.
    private struct Escaping: MustacheContentType {
        func escapeText(_ text: String) -> String { PageText.escaped(text) }
    }

    /// Mustache keeps content types for the whole process, so it is told once.
    private static let contentType: String = {
        MustacheContentTypes.register(Escaping(), named: "PAGE")
        return "{{% CONTENT_TYPE:PAGE}}"
    }()

    private let library: MustacheLibrary?

    /// - Parameter files: by name, under which they also include one another (`{{> name}}`).
    package init(_ files: [(name: String, text: String)]) {
        var templates: [String: MustacheTemplate] = [:]
        for file in files { templates[file.name] = try? MustacheTemplate(string: Self.contentType + file.text) }
        library = templates.count == files.count ? MustacheLibrary(templates: templates) : nil
    }

    package init(_ files: [(name: String, bytes: [UInt8])]) {
        self.init(files.map { (name: $0.name, text: String(decoding: $0.bytes, as: UTF8.self)) })
    }

    /// A template that cannot be read is a defect that the tests see; the page is empty then.
    package func render(_ name: String, _ context: [String: Any]) -> String {
        library?.render(context, withTemplate: name) ?? ""
    }
}
