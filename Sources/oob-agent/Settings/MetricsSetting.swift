import ControlServer
import PushReceiver

extension SettingSource {
    /// Where only this machine can listen to; nil where the setting is not given.
    func loopbackAddress(_ setting: Setting) throws(StartError) -> LoopbackAddress? {
        guard let found = find(setting) else { return nil }
        guard let address = ListenAddress(found.value), address.isLoopback else {
            throw StartError(
                found.status,
                "\(found.place): must be ADDRESS:PORT or [ADDRESS]:PORT on loopback: localhost, 127.0.0.1 or [::1]")
        }
        return LoopbackAddress(host: address.host, port: address.port)
    }
}
