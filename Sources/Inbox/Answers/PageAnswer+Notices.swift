import Control
import HTTPTypes
import Hummingbird
import PageServing

extension PageAnswer {
    /// A page with one sentence.
    enum Notice {
        case notOurName, notThisPage, noSession, usedLink, noPage, notOurForm, onlyLooking, noDecision, tooManyWindows

        fileprivate var text: (status: HTTPResponse.Status, title: String, sentence: String) {
            let next = "A link works once. The next one stands where oob-inbox runs: follow it in this browser."
            return switch self {
            case .notOurName: (.forbidden, "Not for this page", "This address or origin is not the inbox's.")
            case .notThisPage:
                (.forbidden, "Not from this page", "Another page has led here. Open the inbox by its own address.")
            case .noSession: (.forbidden, "A link opens this page", next)
            case .usedLink: (.forbidden, "This link was used", next)
            case .noPage: (.notFound, "Not found", "There is no such page.")
            case .notOurForm:
                (.forbidden, "Nothing was decided", "The form was not this page's. Go back and reload it.")
            case .onlyLooking:
                (.forbidden, "Nothing was decided", "This inbox only shows: it was started with --look.")
            case .noDecision: (.badRequest, "Nothing was decided", "The form has no decision.")
            case .tooManyWindows: (.serviceUnavailable, "Too many windows", "Close one of the inbox's windows.")
            }
        }
    }

    static func notice(_ notice: Notice) -> Response {
        let (status, title, sentence) = notice.text
        return page(Pages.notice(title, sentence), status)
    }

    /// Why the agent gave nothing to show.
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
