The settings: as the agent prints them, as its check reads them, and as docs/reference/configuration.md has them.

`check` checks a config file with these lines; `refused` prints on one line what is wrong in each of three places.

  $ check() { printf '%s\n' "$@" >config.yaml; oob-agent --config config.yaml --check-config; }
  $ refused() {
  >     local variable="OOB_AGENT_$(tr a-z- A-Z_ <<<"$1")"
  >     check "$1: 100" || echo "[$?]"
  >     oob-agent --check-config "--$1=100" || echo "[$?]"
  >     env "$variable=100" oob-agent --check-config || echo "[$?]"
  > }
  $ oob-agent --print-config >sample.yaml
  $ oob-agent --help >help.txt

# The sample has every setting that the help has and no other

  $ settings() { sed -n -E 's/^#([a-z][a-z0-9-]*): .*/\1/p' sample.yaml | sort; }
  $ settings | wc -l
  38
  $ comm -3 <(settings) <(sed -n -E 's/^  (-., )?--([a-z0-9-]+).*/\2/p' help.txt | sort -u)
  \taccept-clock (esc)
  \taccept-head (esc)
  \tcheck-config (esc)
  \tconfig (esc)
  \thelp (esc)
  \tmigrate-to (esc)
  \tprint-config (esc)
  \trestore (esc)
  \tversion (esc)

# The sample says of each setting what the help says

Its paragraphs are a text and a setting; all words of the text follow each other in the help.

  $ tr -s ' \n' ' ' <help.txt >said.txt
  $ awk -v RS= 'NR > 1 { sub(/\n#[a-z][^\n]*$/, ""); gsub(/\n# /, " "); print substr($0, 3) }' sample.yaml >texts.txt
  $ wc -l <texts.txt
  38
  $ while read -r text; do grep --fixed-strings --quiet -e "$text" said.txt || echo "$text"; done <texts.txt
  $ awk 'length($0) <= 20' texts.txt

# The sample sets nothing

  $ grep -v -e '^#' -e '^$' sample.yaml
  [1]
  $ oob-agent --config sample.yaml --check-config
  # The config file is in order.
  # Each other setting has its default (--print-config).

# The agent takes each default that the sample has

  $ awk -v RS= '{
  >     setting = text = $0; sub(/.*\n#/, "", setting); gsub(/\n# /, " ", text)
  >     value = setting; sub(/^[^ ]* /, "", value)
  >     if (index(text, "Default: " value ".\n#")) print setting }' sample.yaml >defaults.txt
  $ grep -v host-lease defaults.txt >config.yaml
  $ oob-agent --config config.yaml --check-config
  # The config file is in order.
  log-level: info  # config.yaml:1: log-level
  log-format: text  # config.yaml:2: log-format
  exponent-policy: refuse  # config.yaml:3: exponent-policy
  allow-test-authenticators: false  # config.yaml:4: allow-test-authenticators
  test-clock: false  # config.yaml:5: test-clock
  persona-tags: false  # config.yaml:6: persona-tags
  push-behind-proxy: false  # config.yaml:7: push-behind-proxy
  push-vapid: required  # config.yaml:8: push-vapid
  poll-interval-with-push: 60  # config.yaml:9: poll-interval-with-push
  max-undecided: 1000  # config.yaml:10: max-undecided
  max-answer-bytes: 67108864  # config.yaml:11: max-answer-bytes
  events-kept: 100000  # config.yaml:12: events-kept
  audit-retention: 400  # config.yaml:13: audit-retention
  retention: 400  # config.yaml:14: retention
  # Each other setting has its default (--print-config).

`host-lease` goes with a database, which a program without PostgreSQL does not take.

  $ check "$(grep host-lease defaults.txt)" 'database: postgres:///oob?host=/run/postgresql' 'host-name: agent-1' \
  >     >checked.txt 2>&1 || grep --quiet 'built without PostgreSQL' checked.txt

# The page has the sample as it is

  $ sed -n '/^```yaml$/,/^```$/p' "$TESTDIR"/../../../docs/reference/configuration.md | sed '1d;$d' | diff - sample.yaml

# Output for which there is no room is an error

  $ oob-agent --print-config >/dev/full
  Error: the output could not be written: write to standard output: No space left on device
  [74]
  $ check 'log-level: debug' >/dev/full
  Error: the output could not be written: write to standard output: No space left on device
  [74]
  $ prlimit --fsize=4096 env --ignore-signal=XFSZ oob-agent --print-config >half.yaml
  Error: the output could not be written: write to standard output: File too large
  [74]
  $ stat --format=%s half.yaml
  4096

# The check says what is set and where

  $ printf 'log-level: debug\nmax-undecided: 7\n\nretention: 30\n' >config.yaml
  $ OOB_AGENT_MAX_UNDECIDED=8 oob-agent --config config.yaml --check-config --retention 60
  # The config file is in order.
  log-level: debug  # config.yaml:1: log-level
  max-undecided: 8  # OOB_AGENT_MAX_UNDECIDED
  retention: 60  # --retention
  # Each other setting has its default (--print-config).

# A variable that is empty is not set

  $ OOB_AGENT_MAX_UNDECIDED='' OOB_AGENT_PROXY='' check 'max-undecided: 7'
  # The config file is in order.
  max-undecided: 7  # config.yaml:1: max-undecided
  # Each other setting has its default (--print-config).

# A name that no setting has is refused with the bounds that can be set

Settings once had some of these names.

  $ for name in control-body-octets control-connections control-header-octets control-patience log-pause \
  >     max-answer-octets max-cancellations max-held max-held-in-all max-list-octets max-list-requests max-messages \
  >     max-refused max-request-octets push-connections push-patience push-rate push-rate-in-all; do
  >     refused "$name" 2>&1 | sed -e "s/$name/NAME/" -e "s/OOB_AGENT_[A-Z_]*/VARIABLE/"
  > done | sort | uniq --count
       18 Error: --NAME: no such flag; oob-agent --help lists all. Bounds that can be set are max-undecided, max-enrollments, max-stored-bytes, max-answer-bytes, events-kept, audit-retention, retention; the others are constants, which docs/reference/limits.md lists
       18 Error: VARIABLE: no such setting; oob-agent --help lists all. Bounds that can be set are max-undecided, max-enrollments, max-stored-bytes, max-answer-bytes, events-kept, audit-retention, retention; the others are constants, which docs/reference/limits.md lists
       18 Error: config.yaml:1: NAME: no such setting; oob-agent --help lists all. Bounds that can be set are max-undecided, max-enrollments, max-stored-bytes, max-answer-bytes, events-kept, audit-retention, retention; the others are constants, which docs/reference/limits.md lists
       18 [64]
       36 [78]

# A name that is near a setting's is refused with that

  $ refused max-undecide
  Error: config.yaml:1: max-undecide: no such setting; did you mean max-undecided?
  [78]
  Error: --max-undecide: no such flag; did you mean --max-undecided?
  [64]
  Error: OOB_AGENT_MAX_UNDECIDE: no such setting; did you mean OOB_AGENT_MAX_UNDECIDED?
  [78]

# Variables of other programs and empty ones are ignored

  $ OOB_AGENT_USER=root OOB_AGENT_COLOUR='' OOB_AGENT_PORT=tcp://10.0.0.1:80 OOB_AGENT_PORT_80_TCP_ADDR=10.0.0.1 \
  >     OOB_AGENT_SERVICE_HOST=10.0.0.1 oob-agent --check-config
  # No config file was named.
  # Each other setting has its default (--print-config).

# The check prints a config that says the same

  $ for value in '/tmp/a b: #c' '/tmp/"quoted"\' /tmp/- -/tmp - --- /tmp/Dæmø; do
  >     oob-agent "--state-dir=$value" --socket /tmp/s --check-config >first.yaml
  >     oob-agent --config first.yaml --check-config | grep state-dir
  > done
  state-dir: "/tmp/a b: #c"  # first.yaml:2: state-dir
  state-dir: "/tmp/\"quoted\"\\"  # first.yaml:2: state-dir
  state-dir: /tmp/-  # first.yaml:2: state-dir
  state-dir: "-/tmp"  # first.yaml:2: state-dir
  state-dir: "-"  # first.yaml:2: state-dir
  state-dir: "---"  # first.yaml:2: state-dir
  state-dir: "/tmp/Dæmø"  # first.yaml:2: state-dir

# A home directory as a shell writes it is refused, at a start as well

The agent would make directories here.

  $ mkdir home
  $ for setting in 'state-dir: ~/state' $'log-level: info\nsocket: ~/a.sock' 'secret-file: ~root/secret' \
  >     $'log-level: info\nprevious-secret-file: ~' $'client-key: ~/agent.key\nclient-cert: ~/agent.crt' \
  >     $'push-tls-cert: ~/agent.crt\npush-tls-key: ~/agent.key'; do
  >     for option in --check-config --log-level=info; do
  >         echo "$setting" >config.yaml
  >         HOME="$PWD/home" oob-agent --config config.yaml "$option" || echo "[$?]"
  >     done 2>&1 | sort | uniq --count
  > done
        2 Error: config.yaml:1: state-dir: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
        2 Error: config.yaml:2: socket: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
        2 Error: config.yaml:1: secret-file: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
        2 Error: config.yaml:2: previous-secret-file: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
        2 Error: config.yaml:2: client-cert: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
        2 Error: config.yaml:1: push-tls-cert: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
        2 [78]
  $ oob-agent '--state-dir=~/state' --check-config
  Error: --state-dir: must be a path without ~, which only a shell expands: write it out, or ./~ for a name that begins with ~
  [64]
  $ ls -A home

# The check opens what the settings name and makes nothing

  $ private secret 'a secret of more than 16 bytes'
  $ private short short
  $ install --mode=644 secret openly
  $ ln -s /nowhere/at/all link
  $ mkdir --mode=777 wide
  $ touch before.txt && find . | sort >before.txt
  $ for setting in 'secret-file: /nope' 'secret-file: openly' 'secret-file: short' \
  >     $'secret-file: secret\nprevious-secret-file: /nope' $'secret-file: secret\nprevious-secret-file: secret' \
  >     'state-dir: openly' 'state-dir: openly/a/b' 'state-dir: link' 'state-dir: wide' \
  >     'socket: none/a.sock' 'socket: openly' 'pkcs11-module: /nope.so'; do
  >     check "$setting" || echo "[$?]"
  > done
  Error: config.yaml:1: secret-file: the secret /nope: there is no such file or directory; check the path
  [78]
  Error: config.yaml:1: secret-file: the secret openly: its mode is 0644, which lets other users at it; chmod 0600 it
  [78]
  Error: config.yaml:1: secret-file: the secret short: the agent's secret has 5 bytes; it must have 16 to 1024, all random (such as: openssl rand -out FILE 32)
  [78]
  Error: config.yaml:2: previous-secret-file: the secret /nope: there is no such file or directory; check the path
  [78]
  Error: the previous secret and the present one are the same: give the new one with --secret-file, or no previous one
  [78]
  Error: config.yaml:1: state-dir: openly: it is not a directory; move it away or choose another path
  [78]
  Error: config.yaml:1: state-dir: openly/a/b: it is not a directory; move it away or choose another path
  [78]
  Error: config.yaml:1: state-dir: link: it is not a directory; move it away or choose another path
  [78]
  Error: config.yaml:1: state-dir: wide: its mode is 0777, which lets other users at it; chmod 0700 it
  [78]
  Error: config.yaml:1: socket: none/ is not a usable directory: No such file or directory
  [78]
  Error: config.yaml:1: socket: openly: this is not a socket: move it away, or set another path
  [78]
  Error: config.yaml:1: pkcs11-module: /nope.so cannot be read: No such file or directory
  [78]
  $ find . | sort | diff - before.txt

# The check makes nothing of what a start would make

  $ check "state-dir: $PWD/a/state" "socket: $PWD/a/state/control.sock" "secret-file: $PWD/secret"
  # The config file is in order.
  state-dir: <folder>/a/state  # config.yaml:1: state-dir
  socket: <folder>/a/state/control.sock  # config.yaml:2: socket
  secret-file: <folder>/secret  # config.yaml:3: secret-file
  # Each other setting has its default (--print-config).
  $ ls a
  ls: cannot access 'a': No such file or directory
  [2]

# The check reads the state of an agent

  $ mkdir --mode=700 state
  $ private state/secret 'a secret that an agent has made.'
  $ oob-agent --state-dir="$PWD/state" --check-config
  # No config file was named.
  state-dir: <folder>/state  # --state-dir
  # Each other setting has its default (--print-config).
  $ chmod 644 state/secret
  $ oob-agent --state-dir="$PWD/state" --check-config
  Error: --state-dir: the secret <folder>/state/secret: its mode is 0644, which lets other users at it; chmod 0600 it
  [78]

# The check says which directory cannot be made and makes none

Another user than this directory's runs the check; without root, nobody may write to it.

  $ chmod 755 . && mkdir --mode=555 theirs
  $ other-user() { if ((UID)); then "$@"; else setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; fi; }
  $ other-user oob-agent --state-dir="$PWD/theirs/new" --check-config
  Error: --state-dir: <folder>/theirs: access: Permission denied; check the owner and the mode of the file and of the directories above it
  [78]
  $ other-user oob-agent --socket="$PWD/theirs/a.sock" --check-config
  Error: --socket: <folder>/theirs/ cannot be written to: Permission denied
  [78]
  $ ls theirs
