import Control
import HTTPTypes
import Hummingbird
import PageServing

extension PageAnswer {
    /// The sentence that tells how to get a link.
    private static let nextLink = "Make a new one where oob-inbox runs: press Enter there, or send it SIGUSR1."

    /// A page with one sentence.
    enum Notice {
        case notOurName(PageOrigin)
        /// The start of a link in this browser, and whether the request was an action.
        case noSession(String, Bool)
        case notThisPage, usedLink, loggedOut, noPage, notOurForm, onlyLooking, noDecision, tooManyWindows

        fileprivate var text: (status: HTTPResponse.Status, title: String, sentence: String) {
            switch self {
            case .notOurName(let origin):
                (
                    .forbidden, "Not for this page",
                    "This address is not the inbox's: that is \(origin.text), or any name of the loopback."
                )
            case .notThisPage:
                (.forbidden, "Not from this page", "Another page has led here. Open the inbox by its own address.")
            case .noSession(let hint, let isAct):
                (
                    .forbidden, isAct ? "Nothing was decided" : "A link opens this page",
                    "There is no session here, or it has ended: after five minutes without activity, after eight hours, "
                        + "or with Log out. A link begins the next one. \(PageAnswer.nextLink)\(hint)"
                )
            case .usedLink:
                (
                    .forbidden, "This link works no more",
                    "A link works once and for ten minutes, and only the newest one does. \(PageAnswer.nextLink)"
                )
            case .loggedOut: (.ok, "Logged out", "A link begins the next session. \(PageAnswer.nextLink)")
            case .noPage: (.notFound, "Not found", "There is no such page.")
            case .notOurForm:
                (.forbidden, "Nothing was decided", "The form was not this page's. Go back and reload it.")
            case .onlyLooking:
                (.forbidden, "Nothing was decided", "This inbox only shows: it was started with --look.")
            case .noDecision: (.badRequest, "Nothing was decided", "The form has no decision.")
            case .tooManyWindows: (.serviceUnavailable, "Too many windows", "Close one of the inbox's windows.")
            }
        }

        /// The target of the page's link, or `nil` if the page has none.
        fileprivate var link: String? {
            switch self {
            case .notOurName(let origin): origin.text + "/"
            case .noSession, .loggedOut: nil
            default: "/"
            }
        }
    }

    static func notice(_ notice: Notice) -> Response {
        let (status, title, sentence) = notice.text
        return page(Pages.notice(title, sentence, link: notice.link), status)
    }

    /// Returns a page that explains a failed call of the agent.
    static func failure(_ error: ClientError) -> Response {
        guard case .refused(let refusal) = error else {
            let sentence = "\(error) This page comes back by itself."
            return page(Pages.notice("The agent does not answer", sentence, isWaiting: true), status(of: error))
        }
        let isMissing = [.notFound, .noRequest].contains(refusal.token)
        let sentence = isMissing ? "The agent has no such request." : refusal.message
        return page(
            Pages.notice(isMissing ? "Not found" : "The agent refuses", sentence),
            isMissing ? .notFound : status(of: error))
    }

    static func status(of error: ClientError) -> HTTPResponse.Status {
        guard case .refused(let refusal) = error else { return .badGateway }
        return switch refusal.token {
        case .accessDenied: .forbidden
        case .tooManyRequests: .tooManyRequests
        case .invalidArgument: .badRequest
        default: .conflict
        }
    }
}
