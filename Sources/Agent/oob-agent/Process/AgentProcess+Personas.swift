import Authenticator
import Records
import ServiceLifecycle
import Versioning

#if Personas
import Personas
#endif

/// The personas of this process, which play the cardholders of `test` enrollments, empty without personas.
struct PlayedCardholders {
    var services: [any Service] = []
    var control: (any CardholderControl)?
    /// Applies the rules of reloaded settings.
    var use: @Sendable (Settings) -> Void = { _ in }
}

extension AgentProcess {
    #if Personas
    func cardholders(_ agent: Agent) -> PlayedCardholders {
        let settings = settings
        let cardholders = Cardholders(
            agent, settings.cardholders,
            readingAgain: {
                do throws(StartError) {
                    return .success(try settings.again().cardholders)
                } catch {
                    return .failure(CommandError(.invalidArgument, "the rules stay as they were: \(error.message)"))
                }
            }, log: log)
        return PlayedCardholders(services: [Loop(cardholders.play)], control: cardholders) {
            cardholders.use($0.cardholders)
        }
    }

    /// Accepts every state: this build is for personas.
    func expectNoPersonas(_ agent: Agent) async throws {}
    #else
    func cardholders(_ agent: Agent) -> PlayedCardholders { PlayedCardholders() }

    /// Refuses a state with personas: it comes from a test.
    func expectNoPersonas(_ agent: Agent) async throws {
        guard let id = try await agent.firstWithPersona() else { return }
        throw StartError(
            .config,
            "the enrollment \(id) has a persona, and this agent was built without personas, as for production: use a "
                + "state of its own, or remove the persona with the agent that set it (oobctl persona clear)")
    }
    #endif

    /// Whether this build has personas.
    static var hasPersonas: Bool {
        #if Personas
        true
        #else
        false
        #endif
    }

    /// The version as `--version` prints it.
    static var version: String { SoftwareVersion.ofAgent(SoftwareVersion.text, hasPersonas: hasPersonas) }
}
