import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Testing

@testable import Control
@testable import ControlServer
@testable import Journal

/// From where on events and entries are wanted is read at the edge, and anything else is refused.
struct EventQueryTests {
    private func query(_ path: String, lastEventID: String? = nil) throws(ControlError) -> EventQuery {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
        if let lastEventID, let name = HTTPField.Name(ServerSentEvents.lastEventID) {
            head.headerFields[name] = lastEventID
        }
        return try EventQuery(Request(head: head, body: .init(buffer: ByteBuffer())))
    }

    @Test func `a place is a number or a cursor, and that of the header is stronger`() throws {
        #expect(try query("/v1/events").since == nil)
        #expect(try query("/v1/events?since=17").since == EventCursor(17))
        for since in ["alpha:17,beta:4", "alpha%3A17%2Cbeta%3A4"] {
            #expect(try query("/v1/events?since=\(since)").since?.text == "alpha:17,beta:4")
            #expect(try query("/v1/events?since=\(since)", lastEventID: "beta:5").since?.text == "beta:5")
        }
    }

    @Test(arguments: ["", "-1", "yesterday", "9223372036854775808", "alpha", "alpha:1,alpha:2", "alpha:-1"])
    func `a place that is none is refused with what is allowed`(text: String) throws {
        let (address, header) = ("/v1/events?since=\(text)", "/v1/events?since=17")
        for (name, path, last) in [("since", address, nil), ("Last-Event-ID", header, text)] {
            let error = #expect(throws: ControlError.self) { try query(path, lastEventID: last) }
            #expect(error?.token == .invalidArgument)
            let allowed = "\(name): must be a number of 0 or more, or a place for each host"
            #expect(error?.message.hasPrefix(allowed) == true)
        }
    }

    @Test func `entries are wanted after a place, of one host, and some at a time`() throws {
        let query = try AuditQuery(URI("/v1/audit?after=alpha:17,beta:4&host=beta&limit=5"))
        #expect((query.after.text, query.host, query.limit) == ("alpha:17,beta:4", "beta", 5))
        #expect(try AuditQuery(URI("/v1/audit")).after == .beginning)
        for address in ["after=alpha", "after=-1", "limit=0", "limit=1001"] {
            let error = #expect(throws: ControlError.self) { try AuditQuery(URI("/v1/audit?\(address)")) }
            #expect(error?.token == .invalidArgument)
        }
    }

    @Test func `a client's bound of a cursor is the agent's`() { #expect(CursorText.maxBytes == EventCursor.maxBytes) }
}
