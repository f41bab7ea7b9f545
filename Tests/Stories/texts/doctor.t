What is weak in a set-up, as `oobctl doctor` tells it, except for what the machine is like: its clock, memory and disk.

  $ sandbox
  $ agent
  $ enrolled="$(enroll --name test --authn-type test --json | field .id)"
  $ weak() { oobctl doctor --json | field ".[] | select(.id == \"$1\") | .severity + \" \" + .message"; }

# Each weakness has a line, the most severe first, and each key what is known of it

  $ machine='clockUnsynchronised|memoryNotLocked|swapUnencrypted|diskLow|suffixListMissing'
  $ oobctl doctor | grep --invert-match --extended-regexp "$machine"
  medium  personas: this agent was built with personas, for tests: for real payments, install the Debian package, or build without personas, as plain `swift build -c release` does
  medium  testAuthenticator: enrollment <id 1> is a test authenticator
  medium  secretBesideKeys: the agent's secret is in the state directory <folder>/state: a copy of that has keys and secret
  low     keyExportable: the key of enrollment <id 1> is in the database, sealed: whoever has a copy of the database and the agent's secret, and the PIN if it has one, can sign (PSD2 RTS Article 7)
  low     plainHTTP: enrollment <id 1> is at http://localhost:<port>, without TLS: whoever listens on that port can act as the issuer
  
  ENROLLMENT            KEY                KEY TESTED                             KEY URI
  <id 1>  store, exportable  signature passed <time>  store:<id 1>
  $ oobctl doctor --json | jq 'map({high: 1, medium: 2, low: 3}[.severity]) | . == sort'
  true

# JSON has three members for each weakness, and two more if they apply

  $ oobctl doctor --json | jq --compact-output 'map(keys - ["enrollment", "cannotTell"]) | unique'
  [["id","message","severity"]]
  $ oobctl doctor --json | jq 'map(select(has("cannotTell")).cannotTell) | all(. == true)'
  true
  $ oobctl doctor --json | field ".[] | select(.enrollment == \"$enrolled\").id"
  testAuthenticator
  keyExportable
  plainHTTP

# A script that looks for severe weaknesses fails if it finds one, or no agent

  $ is_sound() { findings="$(oobctl doctor --json "$@")" && jq -e 'all(.severity != "high")' <<<"$findings"; }
  $ jq -e 'all(.severity != "high")' <<<'[{"severity": "high"}]'
  false
  [1]
  $ is_sound || oobctl doctor | grep '^high'
  true
  $ is_sound --socket "$PWD/none.sock" 2>refusal.json
  [69]

# The status lists the weaknesses that are certain, and the log has them

  $ diff <(oobctl doctor --json | jq 'map(select(.cannotTell | not))') <(oobctl status --json | jq .warnings)
  $ grep --only-matching 'a weakness in the set-up id=secretBesideKeys' agent.log
  a weakness in the set-up id=secretBesideKeys

# A build with personas is a weakness, and the status says it in its first line

  $ weak personas
  medium this agent was built with personas, for tests: for real payments, install the Debian package, or build without personas, as plain `swift build -c release` does
  $ oobctl status | sed --quiet 1p
  Agent: ready, version \S+ with personas, not for production (re)
  $ oobctl status --json | field .personas
  true

# The status has no lines for personas and for an issuer without TLS

  $ oobctl status | grep -e 'build without personas' -e 'without TLS'
  [1]

# Without an agent the doctor exits with 69

  $ oobctl doctor --socket none
  Error: No agent listens at none: start oob-agent, or name its socket with --socket.
  [69]

# A state directory that other users can read is a severe weakness

  $ chmod 644 state/agent.db && weak stateReadable
  $ chmod 755 state && weak stateReadable
  high others may look into the state directory: <folder>/state (0755), <folder>/state/agent.db (0644)
  $ chmod 700 state && chmod 600 state/agent.db && weak stateReadable

# A socket that other users can open is a weakness

  $ weak socketOpen
  $ chmod 666 control.sock && weak socketOpen
  medium others than the agent's user may connect to the control socket <folder>/control.sock (0666)
  $ chmod 600 control.sock && weak socketOpen

# A secret in a file is a weakness, beside the keys a worse one, and as a credential of systemd none

  $ stop_agent
  $ (umask 077 && openssl rand -out secret 32)
  $ weaknesses() {
  >   mkdir "$1" && cp secret "$1" && cd "$1" && mkdir -m 700 state old && ln -s state link
  >   tee state/secret <secret >old/secret && chmod 600 */secret
  >   agent "${@:2}" && oobctl doctor | grep '^[a-z]* *secret'
  >   stop_agent; cd ..
  > }
  $ weaknesses a --secret-file secret
  low     secretInFile: the agent's secret is in the file secret, in clear
  $ CREDENTIALS_DIRECTORY="$PWD/b" weaknesses b
  $ weaknesses c --secret-file state/secret
  medium  secretBesideKeys: the agent's secret is in the state directory <folder>/c/state: a copy of that has keys and secret
  $ weaknesses d --secret-file link/secret
  medium  secretBesideKeys: the agent's secret is in the state directory <folder>/d/state: a copy of that has keys and secret
  $ weaknesses e --secret-file old/secret
  low     secretInFile: the agent's secret is in the file old/secret, in clear
