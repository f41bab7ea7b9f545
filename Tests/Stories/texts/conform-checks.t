`oob-conform check-request` and `check-assertion` judge one message: the conformance vectors, and files that hold none.

  $ VECTORS="$TESTDIR/../../../conformance/vectors"
  $ members='.issuer, .authenticatorId, .rpId, .credentialId, .userHandle, .publicKey'
  $ mapfile -t party < <(jq --raw-output "$members" "$VECTORS/parties.json")
  $ jq .jwks "$VECTORS/parties.json" >keys.json
  $ echo "${party[5]}" >public.b64
  $ vector() { jq --compact-output --arg name "$2" '.[] | select(.name == $name)' "$VECTORS/$1.json"; }

A request for the transaction of a vector whose signature has its length and is nobody's: request VECTOR [jq's changes]

  $ b64() { basenc --base64url --wrap 0 | tr --delete =; }
  $ challenge() {
  >   local committed
  >   mapfile -t committed < <(jq --raw-output --compact-output --sort-keys '.nonce + "=", .transaction' <<<"$1")
  >   { printf 'oob-authn-v1\0' && basenc --decode --base64url <<<"${committed[0]}" && printf %s "${committed[1]}"; } |
  >     openssl dgst -sha256 -binary | b64
  > }
  $ signed() { printf '%s.%s.%s' "$(printf %s "$1" | b64)" "$(b64)" "$(head --bytes 64 /dev/zero | b64)"; }
  $ request() {
  >   jq --compact-output --join-output --slurpfile party "$VECTORS/parties.json" --arg challenge "$(challenge "$1")" '
  >     . as $vector | $party[0] as $party | {
  >       iss: $party.issuer, aud: $party.authenticatorId, jti: "b1c6f0a2", iat: 1697522198, exp: 1697522798,
  >       nonce, transaction, publicKey: {
  >         challenge: $challenge, rpId: $party.rpId, userVerification: (.userVerification // "preferred"),
  >         allowCredentials: [{type: "public-key", id: $party.credentialId}]}}
  >     | if $vector.payment then .publicKey.extensions = {payment: $vector.payment} else . end
  >     | '"${2:-.}" <<<"$1" | signed '{"alg":"ES256","kid":"2026-1","typ":"oob-authn-request+jwt"}'
  > }

A vector, the report of its message, and the exit status, which `judged` holds against each other:

  $ judge() { echo "$vector"; oob-conform "$@" --json </dev/null; echo $?; }
  $ judged() {
  >   jq --raw-output --null-input '[inputs] as $all | range(0; $all | length; 3) as $at
  >     | $all[$at] as $vector | $all[$at + 1] as $report
  >     | if $report.verdict == $vector.verdict and $report.broken == ($vector.token // $vector.check)
  >         and $all[$at + 2] == (if $report.broken then 1 else 0 end)
  >         and any($report.rules[]; .result == "failed") == ($report.broken != null)
  >         and '"($1)"'
  >       then $vector.verdict else "\($vector.name): \($report)" end' | sort | uniq --count
  > }

# Each request is judged as its vector says

  $ jq --raw-output '.[] | .jws, .at, (del(.jws) | tojson)' "$VECTORS/requests.json" |
  >   while read -r jws && read -r at && read -r vector; do
  >     echo "$jws" >request.jws
  >     judge check-request request.jws --jwks keys.json --issuer "${party[0]}" --authenticator-id "${party[1]}" \
  >       --rp-id "${party[2]}" --credential-id "${party[3]}" --at "$at" --authn-type pin
  >   done | judged '$vector.verdict != "inOrder" or all($report.rules[]; .result == "passed")'
        1 early
        1 expired
        7 inOrder
        7 notAuthentic
       20 refused
        1 tooEarly
        3 unanswerable
        1 unknownKey

# Each assertion is judged as its vector says

  $ jq --raw-output '.[] | (.credential | tojson), .signCountAbove, tojson' "$VECTORS/assertions.json" |
  >   while read -r credential && read -r count && read -r vector; do
  >     echo "$credential" >assertion.json
  >     request "$vector" >request.jws
  >     judge check-assertion assertion.json --public-key public.b64 --request request.jws \
  >       --user-handle "${party[4]}" --sign-count-above "$count"
  >   done | judged '$report.message.credentialId == $vector.credential.id'
       28 invalid
        6 valid

# Each commitment is the challenge of a request in order and no other is

  $ other="$(head --bytes 32 /dev/zero | b64)"
  $ jq --compact-output '.[]' "$VECTORS/commitments.json" | while read -r vector; do
  >   request "$vector" '.publicKey.challenge = $vector.challenge' | oob-conform check-request - | sed -n 1p
  >   request "$vector" ".publicKey.challenge = \"$other\"" | oob-conform check-request - | sed -n 1p
  > done
  standard input: inOrder
  standard input: refused: commitment
  standard input: inOrder
  standard input: refused: commitment
  standard input: inOrder
  standard input: refused: commitment
  standard input: inOrder
  standard input: refused: commitment
  [1]

# What was not given is taken from the message and not checked

  $ vector requests good | field .jws >good.jws
  $ oob-conform check-request good.jws | grep --extended-regexp '^(good|not|FAILED)'
  good.jws: inOrder
  not checked  6    unknownKey              kid is of the issuer's JWK Set (give --jwks)
  not checked  6.1  signature               the signature is that key's (give --jwks)
  not checked  6    iss                     iss is the issuer's URL (give --issuer)
  not checked  6    aud                     aud is the authenticatorId (give --authenticator-id)
  not checked  6.1  expired                 exp is not past (give --at or --now)
  not checked  6.1  ahead                   iat is at most 60 seconds ahead (give --at or --now)
  not checked  6.1  rpId                    publicKey.rpId is the enrolled one (give --rp-id)
  not checked  6.1  allowCredentials        allowCredentials is empty or names the credential (give --credential-id)
  $ vector assertions good | field .credential >good.json
  $ oob-conform check-assertion good.json | grep --extended-regexp '^(good|not|FAILED)'
  good.json: valid
  not checked  8    credentialId       the credential is the enrolled one (give --credential-id or --request)
  not checked  8    userHandle         userHandle is the user.id of the enrollment, if it is there (give --user-handle)
  not checked  8.1  type               type is the one that was asked for (give --request)
  not checked  8.1  challenge          challenge is the request's (give --challenge or --request)
  not checked  8.1  origin             origin is the issuer's (give --origin or --request)
  not checked  8    rpId               rpIdHash is the SHA-256 of rp.id (give --rp-id or --request)
  not checked  8    userVerification   UV is set, if the request requires it (give --user-verification or --request)
  not checked  8    signature          the signature is the enrolled key's (give --public-key)
  not checked  8    signCount          signCount is greater than any before it (give --sign-count-above)

# What is behind a broken rule is judged too

  $ oob-conform check-request good.jws --issuer https://other.example --authenticator-id other --rp-id other.example \
  >   --credential-id b3RoZXI --now >wrong.txt
  [1]
  $ grep --extended-regexp '^(good|FAILED|passed .* commitment)' wrong.txt
  good.jws: notAuthentic: iss
  FAILED       6    iss                     iss is the issuer's URL (iss is missing, there twice, or not the issuer's URL)
  FAILED       6    aud                     aud is the authenticatorId (aud is missing, there twice, or not the authenticatorId alone)
  FAILED       6.1  expired                 exp is not past (exp is past)
  FAILED       6.1  rpId                    publicKey.rpId is the enrolled one (publicKey.rpId must be other.example, as enrolled)
  FAILED       6.1  allowCredentials        allowCredentials is empty or names the credential (publicKey.allowCredentials must be empty or name this enrollment's credential)
  passed       7    commitment              publicKey.challenge commits to nonce and transaction
  $ openssl genpkey -algorithm ed25519 | openssl pkey -pubout >other.pem
  $ oob-conform check-assertion good.json --public-key other.pem --origin https://other.example \
  >   --user-verification required --sign-count-above 42 >wrong.txt
  [1]
  $ grep --extended-regexp '^(good|FAILED)' wrong.txt
  good.json: invalid: origin
  FAILED       8.1  origin             origin is the issuer's (origin is not https://other.example)
  FAILED       8    userVerification   UV is set, if the request requires it (UV is required and not set)
  FAILED       8    signature          the signature is the enrolled key's (the signature is not the credential key's)
  FAILED       8    signCount          signCount is greater than any before it (signCount is not above 42)

# A return URL that is refused is named with what to write

  $ example="$(vector commitments example)"
  $ for url in https://m.example/köln 'https://m.example/{orderId}'; do
  >   changed="$(jq --compact-output --arg url "$url" '.transaction.threeDSRequestorAppURL = $url' <<<"$example")"
  >   request "$changed" | oob-conform check-request - | grep FAILED || echo "exit status $?"
  > done
  FAILED       6.2  threeDSRequestorAppURL  threeDSRequestorAppURL is of its form (threeDSRequestorAppURL has ö, which is not ASCII: write it as %C3%B6, or in a host the whole host as xn--…)
  exit status 1
  FAILED       6.2  threeDSRequestorAppURL  threeDSRequestorAppURL is of its form (threeDSRequestorAppURL has {: fill in what is a template, such as {id})
  exit status 1

# An assertion whose RP ID is not known is still held against the key

  $ vector assertions signed-by-another-key | field .credential >assertion.json
  $ oob-conform check-assertion assertion.json --public-key public.b64 </dev/null | sed -n 1p
  assertion.json: invalid: signature
  [1]

# A key may be PEM, a JSON Web Key or base64url

  $ tr _- /+ <public.b64 | sed 's/$/==/' | base64 --decode | openssl pkey -pubin -inform DER -outform PEM -out public.pem
  $ coordinate() { openssl pkey -pubin -in public.pem -outform DER | tail --bytes "+$1" | head --bytes 32 | b64; }
  $ echo "{\"kty\": \"EC\", \"crv\": \"P-256\", \"x\": \"$(coordinate 28)\", \"y\": \"$(coordinate 60)\"}" >public.json
  $ jq '{decision: "approve", credential: .}' good.json >decision.json
  $ for key in public.*; do
  >   echo "$key: $(oob-conform check-assertion decision.json --public-key "$key" </dev/null | grep ' signature  ')"
  > done
  public.b64: passed       8    signature          the signature is the enrolled key's
  public.json: passed       8    signature          the signature is the enrolled key's
  public.pem: passed       8    signature          the signature is the enrolled key's

# A cancellation is judged by its own rules

  $ cancellation() {
  >   jq --compact-output --join-output --null-input --arg issuer "${party[0]}" \
  >     '{iss: $issuer, aud: "a", jti: "c", iat: 1000, exp: 1600, cancels: "'"$1"'"}' |
  >     signed '{"alg":"ES256","kid":"2026-1","typ":"oob-authn-cancel+jwt"}'
  > }
  $ cancellation j >cancellation.jws
  $ oob-conform check-request cancellation.jws | sed -n 1p
  cancellation.jws: cancellation
  $ oob-conform check-request cancellation.jws --at 1599 | sed -n 1p
  cancellation.jws: cancellation
  $ for at in 1600 900; do
  >   oob-conform check-request cancellation.jws --at "$at" | grep FAILED || echo "exit status $?"
  > done
  FAILED       6.1  expired                exp is not past (exp is past, so it has no effect)
  exit status 1
  FAILED       6.1  ahead                  iat is at most 60 seconds ahead (iat is 100 seconds ahead)
  exit status 1
  $ cancellation / | oob-conform check-request - | grep FAILED
  FAILED       9    malformedCancellation  iat, exp and cancels are of their form, and no name is there twice (iat, exp or cancels is not of its form, or a name is there twice)
  [1]

# A file that is no message is one clear line

  $ refused() {
  >   cat >content
  >   oob-conform "$1" content </dev/null && echo taken
  > }
  $ refused check-request </dev/null
  oob-conform: content is empty; a compact JWS is expected
  [65]
  $ head --bytes 1000000 /dev/zero | tr '\0' a | refused check-request
  oob-conform: content has more than 65536 bytes
  [65]
  $ printf '\0\1' | refused check-request
  oob-conform: content holds no compact JWS: byte 0 is no printable ASCII
  [65]
  $ printf 'eyJ\33[31mred' | refused check-request
  oob-conform: content holds no compact JWS: byte 3 is no printable ASCII
  [65]
  $ head --bytes 1000000 /dev/zero | tr '\0' '[' | refused check-assertion
  oob-conform: content has more than 262144 bytes
  [65]
  $ head --bytes 200000 /dev/zero | tr '\0' '[' | refused check-assertion
  oob-conform: content holds no assertion: JSON at byte 16: deeper than 16
  [65]
  $ printf '\33]0;x\7' | refused check-assertion
  oob-conform: content holds no assertion: JSON at byte 0: expected a value
  [65]
  $ echo '{"decision": "deny", "reason": "policy"}' | refused check-assertion
  oob-conform: content denies (policy), so it has no assertion
  [65]
  $ echo '{"id": "\u001b[31m"}' | refused check-assertion
  oob-conform: content holds no assertion: /type is missing
  [65]
  $ oob-conform check-request nothing
  oob-conform: nothing cannot be read: No such file or directory
  [66]
  $ oob-conform check-request .
  oob-conform: . cannot be read: Is a directory
  [66]

# A byte order mark at the beginning of a file is ignored

  $ mark() { printf '\357\273\277' | cat - "$1"; }
  $ mark good.jws >marked.jws
  $ mark keys.json >marked.json
  $ oob-conform check-request good.jws --jwks keys.json --json >plain </dev/null
  $ oob-conform check-request marked.jws --jwks marked.json --json </dev/null | cmp - plain
  $ mark marked.jws | refused check-request
  oob-conform: content holds no compact JWS: byte 0 is no printable ASCII
  [65]

# A hostile message is shown and not obeyed

  $ request "$example" '. + {"\u001b[31m": "\u202e\u001b]0;x\u0007"}' | oob-conform check-request - >shown.txt
  $ grep --perl-regexp '[\x00-\x09\x0b-\x1f\x7f\x{202e}]' shown.txt
  [1]
  $ grep 31m shown.txt
  claims.\u{1B}[31m  "\u202e\u001b]0;x\u0007"

# An option with a wrong value is wrong usage

  $ check() { oob-conform check-request - "$@" </dev/null 2>&1 | sed -n 1p; }
  $ check --at soon
  Error: --at must be a whole number of seconds since 1970
  [64]
  $ check --at 1 --now
  Error: --at and --now are two times; give one of them
  [64]
  $ check --issuer example.com
  Error: --issuer: must start with https:// (or http:// on loopback)
  [64]
  $ check --authn-type pni
  Error: --authn-type: did you mean pin? Allowed are pin, presence, test
  [64]
  $ check --credential-id a+b
  Error: --credential-id must be base64url without padding, of 1 to 1023 bytes
  [64]
  $ check --exponent-policy ignore
  Error: --exponent-policy: allowed are refuse, warn
  [64]
