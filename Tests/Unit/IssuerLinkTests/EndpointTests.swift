import Testing

@testable import IssuerLink

struct EndpointTests {
    @Test(arguments: [
        ("https://i.example/v1/r", "https://i.example/v1/r/j/decision?wait=5&after=a%2Fb"),
        ("https://i.example/v1/r?tenant=1", "https://i.example/v1/r/j/decision?tenant=1&wait=5&after=a%2Fb"),
        ("https://i.example/r?a=?&b", "https://i.example/r/j/decision?a=?&b&wait=5&after=a%2Fb"),
    ])
    func `paths and queries are appended, and a query that is there is kept`(_ url: String, _ whole: String) {
        let endpoint = Endpoint(url)
        #expect(endpoint.url(path: "/j/decision", query: [("wait", "5"), ("after", "a/b")]) == whole)
        #expect(endpoint.url() == url)
    }
}
