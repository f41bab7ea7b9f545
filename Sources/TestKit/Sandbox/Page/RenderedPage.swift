import HTTPTypes
import Hummingbird
import Keys
import PageServing
import TextAndTime

/// A page ready to be sent.
struct RenderedPage: Sendable {
    let html: String
    /// An entity tag (RFC 9110 §8.8.3), which changes as soon as the page shows something else.
    let tag: String

    /// - Parameter passing: values that change all the time; they do not change the tag.
    init(_ template: String, _ context: [String: Any], passing: [String: String] = [:]) throws {
        let digest = try SHA256Digest.of(Array(Templates.render(template, context).utf8))
        tag = "\"\(Base64URL.encode(digest))\""
        html = Templates.render(template, context.merging(passing) { $1 })
    }
}

extension PageAnswer {
    static func page(_ page: RenderedPage, _ status: HTTPResponse.Status = .ok) -> Response {
        var response = self.page(page.html, status)
        response.headers[.eTag] = page.tag
        return response
    }

    static func unchanged(_ page: RenderedPage) -> Response {
        var fields = PageGuard.fields
        fields[.eTag] = page.tag
        return Response(status: .notModified, headers: fields)
    }

    /// Returns a page with one sentence and a link to the sandbox's page.
    static func notice(
        _ title: String, _ sentence: String, _ status: HTTPResponse.Status, link: String = "/"
    ) -> Response {
        let html = Templates.render(
            "notice", ["title": title, "sentence": PageText.text(sentence), "link": link])
        return page(html, status)
    }
}
