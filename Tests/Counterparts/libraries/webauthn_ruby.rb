# Writes the options of both ceremonies as webauthn-ruby makes them by default.
require "json"
require "webauthn"

user = { id: "c5H4Zr2vQnWmT8yL0kPdXg", name: "cardholder", display_name: "A. Cardholder" }
WebAuthn.configure do |config|
  config.origin = "https://issuer.example"
  config.rp_name = "Example Bank"
end
nameless = WebAuthn::Credential.options_for_create(user: user).as_json
nameless_get = WebAuthn::Credential.options_for_get(allow: ["OcaLvG5j0lAofKLbF1zJ27YW822QpvN5r402OhJJMuM"]).as_json
WebAuthn.configure { |config| config.rp_id = "issuer.example" }
named = WebAuthn::Credential.options_for_create(user: user).as_json
named_get = WebAuthn::Credential.options_for_get(allow: ["OcaLvG5j0lAofKLbF1zJ27YW822QpvN5r402OhJJMuM"]).as_json
puts JSON.generate(nameless: nameless, nameless_get: nameless_get, named: named, named_get: named_get,
                   version: WebAuthn::VERSION)
