import AgentConfig

#if Personas
import Personas
#endif

extension SettingSource {
    #if Personas
    /// The rules of the config file, and whether a transaction may name its persona.
    func cardholders() throws(StartError) -> Cardholders.Settings {
        let takesTags = try choice(.personaTags, allowed: ["true", "false"]) { $0 == "true" } ?? false
        do throws(ConfigError) {
            let rules = try Rule.all(in: config?.lists[ConfigFile.rules] ?? [])
            return Cardholders.Settings(rules: rules, takesTags: takesTags)
        } catch {
            throw StartError(.config, error.message)
        }
    }
    #else
    /// Refuses settings that need personas.
    func expectNoPersonas() throws(StartError) {
        let found = find(.personaTags).map { ($0.place, $0.status) }
        guard let (place, status) = found ?? config?.lists[ConfigFile.rules]?.first.map({ ($0.place, .config) })
        else { return }
        throw StartError(status, "\(place): this agent was built without personas, as for production")
    }
    #endif
}

extension ConfigFile {
    /// The list of rules that decide requests of `test` enrollments.
    static let rules = "rules"
}
