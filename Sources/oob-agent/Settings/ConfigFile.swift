import AgentConfig
import FoundationEssentials

extension ConfigFile {
    /// Reads the file at `path`, and allows a member for each setting.
    init(path: String) throws(StartError) {
        // Foundation takes ~ for a home directory, as no other path here is taken.
        guard !path.hasPrefix("~"), let data = FileManager.default.contents(atPath: path) else {
            throw StartError(.config, "\(path): the config file cannot be read: check the path and its mode")
        }
        do throws(ConfigError) {
            try self.init([UInt8](data), path: path, names: Setting.allCases.map(\.rawValue))
        } catch {
            throw StartError(.config, error.message)
        }
    }
}
