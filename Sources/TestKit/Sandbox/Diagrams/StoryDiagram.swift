package import SequenceDiagrams
import StrictJSON
import TextAndTime
import ThreeDS

extension PurchaseReport {
    /// Draws the purchase as a sequence diagram.
    ///
    /// - Throws: if the answer is not a sandbox's, or has more steps than a diagram can have.
    package func diagram() throws(SandboxClient.CallError) -> SequenceDiagram {
        do {
            let steps = try StoryDiagram.steps(timeline)
            let made = StoryDiagram(steps: steps).diagram(title: title, subtitles: subtitles, ending: ending)
            guard let made else {
                throw StoryDiagram.WrongStep(description: "steps: more than \(SequenceDiagram.maxSteps)")
            }
            return made
        } catch { throw .refused("the answer is not a sandbox's: \(error)") }
    }

    private var transaction: [TransactionMember] {
        guard case .object(let members)? = timeline["transaction"] else { return [] }
        return members.members.map { TransactionMember(name: $0.name, value: Shown.plain($0.value)) }
    }

    private var title: String {
        let merchant = transaction.first { $0.name == "merchantName" }?.value ?? "purchase"
        guard let made = try? Transaction(members: transaction) else { return merchant }
        return "\(merchant) · \(made.purchase?.display ?? "no payment")"
    }

    private var subtitles: [String] {
        let areq = Shown.objects(timeline["messages"]).first { $0["messageType"] == "AReq" }
        let channel = areq?["deviceChannel"].map(Shown.plain).map { code in
            ["01": "app", "02": "browser", "03": "3RI"][code].map { "\($0) channel" } ?? "device channel \(code)"
        }
        let version = areq?["messageVersion"].map { "EMV 3-D Secure \(Shown.plain($0))" }
        let result = timeline["transStatus"].map { "transStatus \(Shown.plain($0))" }
        let first = Shown.objects(timeline["steps"]).first?["at"].map(Shown.plain)
        let start = first.map { "from " + $0.replacing("T", with: " ").replacing("Z", with: " UTC") }
        return [
            [version, channel, status, result].compactMap(\.self).joined(separator: " · "),
            ["acsTransID \(acsTransId)", start].compactMap(\.self).joined(separator: " · "),
        ]
    }

    private var ending: SequenceDiagram.Ending {
        isAuthenticated ? .init(status, .good) : .init(status, isCompleted ? .bad : .open)
    }
}

/// The parties and steps of a purchase's timeline, for a diagram.
struct StoryDiagram {
    struct WrongStep: Error, CustomStringConvertible {
        let description: String
    }

    /// The parties in the order of their lanes: the cardholder's side, the card's, the merchant's.
    enum Party: String, CaseIterable {
        case cardholder, authenticator, acs, ds
        case threeDSServer = "3dsServer"
        case sdk, browser, merchant

        var lane: SequenceDiagram.Party {
            switch self {
            case .cardholder: .init("cardholder", role: "the payer", isHighlighted: true)
            case .authenticator: .init("authenticator", role: "out of band", isHighlighted: true)
            case .acs: .init("ACS", role: "the issuer’s")
            case .ds: .init("DS", role: "card scheme")
            case .threeDSServer: .init("3DS Server", role: "the merchant’s")
            case .sdk: .init("3DS SDK", role: "merchant’s app")
            case .browser: .init("browser", role: "cardholder’s")
            case .merchant: .init("merchant", role: "3DS Requestor")
            }
        }
    }

    struct Step {
        let at: Int64
        let from, to: Party
        let label: String
        let detail: String?
    }

    private static let answers: Set<String> = ["ARes", "CRes", "RRes"]

    let steps: [Step]

    /// Reads the `steps` of a timeline.
    static func steps(_ story: JSONObject) throws -> [Step] {
        guard case .array(let steps)? = story["steps"] else { throw WrongStep(description: "steps: must be an array") }
        return try steps.enumerated().map { index, step in
            do {
                guard case .object(let step) = step else { throw WrongStep(description: "must be an object") }
                return try Self.step(step)
            } catch { throw WrongStep(description: "steps[\(index)]: \(error)") }
        }
    }

    private static func step(_ step: JSONObject) throws -> Step {
        guard let at = UTCTime.seconds(try step.string("at", bytes: 20...20)) else {
            throw WrongStep(description: "at: must be such as 2026-11-23T09:31:07Z")
        }
        return Step(
            at: at, from: try party("from", step), to: try party("to", step),
            label: try step.string("label", bytes: 1...400),
            detail: try step.optionalString("detail", bytes: 1...16_384))
    }

    private static func party(_ name: String, _ step: JSONObject) throws -> Party {
        let text = try step.string(name, bytes: 1...64)
        guard let party = Party(rawValue: text) else {
            throw WrongStep(description: "\(name): \(DisplayText.excerpt(text)) is no party")
        }
        return party
    }

    /// Makes a diagram with a lane for each active party, or returns `nil` if there are too many steps.
    func diagram(title: String, subtitles: [String], ending: SequenceDiagram.Ending) -> SequenceDiagram? {
        let taking = Party.allCases.filter { party in steps.contains { $0.from == party || $0.to == party } }
        // A timeline without steps still has its ACS.
        let parties = taking.isEmpty ? [.acs] : taking
        return SequenceDiagram(
            title: title, subtitles: subtitles, ending: ending, parties: parties.map(\.lane),
            steps: steps.map { step in
                SequenceDiagram.Step(
                    at: step.at, from: parties.firstIndex(of: step.from) ?? 0, to: parties.firstIndex(of: step.to) ?? 0,
                    label: step.label, detail: step.detail, isAnswer: Self.answers.contains(step.label))
            })
    }
}
