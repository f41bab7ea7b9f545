import StrictJSON

/// The members of `emv` from a command line, each as NAME=VALUE.
enum EMVOrder {
    /// Builds the object for the call.
    ///
    /// - Throws: `SandboxError` if a pair has no `=` or a name comes twice.
    static func object(of pairs: [String]) throws(SandboxError) -> JSONObject {
        var object: JSONObject = [:]
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .badRequest("emv: must be NAME=VALUE, such as messageVersion=2.3.1") }
            guard object[parts[0]] == nil else { throw .badRequest("emv/\(parts[0]): is given twice") }
            object[parts[0]] = value(parts[1], of: parts[0])
        }
        return object
    }

    private static func value(_ text: String, of name: String) -> JSONValue {
        switch (name, text) {
        case ("bridging", "true"): .bool(true)
        case ("bridging", "false"): .bool(false)
        case ("authenticationMethod", _):
            .array(text.split(separator: ",", omittingEmptySubsequences: false).map { .string(String($0)) })
        default: .string(text)
        }
    }
}
