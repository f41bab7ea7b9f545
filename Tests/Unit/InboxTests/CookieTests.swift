import HTTPTypes
import PageServing
import Testing

@testable import Inbox

@Suite struct CookieTests {
    @Test func `under https the cookie is for this host and https alone`() throws {
        let session = try #require(newSession())
        let cookie = SessionCookie(of: PageOrigin(scheme: "https", host: "inbox.example"), port: nil)
        #expect(cookie.begin(session) == "__Host-oob-inbox=\(session.id); Path=/; HttpOnly; SameSite=Strict; Secure")
        #expect(cookie.end == "__Host-oob-inbox=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0")
    }

    @Test func `under http each inbox has a cookie of its own`() throws {
        let session = try #require(newSession())
        let cookie = SessionCookie(of: PageOrigin(scheme: "http", host: "localhost:9000"), port: 8_300)
        #expect(cookie.begin(session) == "oob-inbox-8300=\(session.id); Path=/; HttpOnly; SameSite=Strict")
    }

    @Test func `a cookie of http is none of https`() {
        let fields: HTTPFields = [.cookie: "oob-inbox=A; __Host-oob-inbox=B"]
        let https = SessionCookie(of: PageOrigin(scheme: "https", host: "inbox.example"), port: nil)
        let http = SessionCookie(of: PageOrigin(scheme: "http", host: "localhost"), port: nil)
        #expect(https.values(in: fields) == ["B"])
        #expect(http.values(in: fields) == ["A"])
    }

    @Test func `a cookie of the same name that another server has set does not hide the own one`() {
        let fields: HTTPFields = [.cookie: "x=1;oob-inbox-1=evil; oob-inbox-11=2; oob-inbox-1=own; oob-inbox-1="]
        let cookie = SessionCookie(of: PageOrigin(scheme: "http", host: "localhost"), port: 1)
        #expect(cookie.values(in: fields) == ["evil", "own"])
    }

    private func newSession() -> Sessions.Session? {
        let sessions = Sessions { .now }
        return sessions.enter(sessions.makeLink(), at: PageOrigin(scheme: "http", host: "localhost"), within: .payers)
    }
}
