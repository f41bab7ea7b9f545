import LineLog

extension LineFormat {
    /// As standard error takes it.
    init(_ format: Settings.LogFormat) {
        self =
            switch format {
            case .json: .jsonOnStandardError
            case .text: .textOnStandardError
            }
    }
}
