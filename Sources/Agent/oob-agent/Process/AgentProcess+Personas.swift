import Authenticator
import Records
import ServiceLifecycle
import Versioning

#if Personas
import Personas
#endif

/// Who plays the cardholders of `test` enrollments, as the process has it; nobody in a build without personas.
struct PlayedCardholders {
    var services: [any Service] = []
    var control: (any CardholderControl)?
    /// Lets them use the rules of settings that were read again.
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
        return PlayedCardholders(services: [Loop(cardholders.run)], control: cardholders) {
            cardholders.use($0.cardholders)
        }
    }

    /// They are what this build is for.
    func expectNoPersonas(_ agent: Agent) async throws {}
    #else
    func cardholders(_ agent: Agent) -> PlayedCardholders { PlayedCardholders() }

    /// A state in which personas are set is a tester's.
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

    /// As `--version` prints it.
    static var version: String { SoftwareVersion.ofAgent(SoftwareVersion.text, hasPersonas: hasPersonas) }
}
