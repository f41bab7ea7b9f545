An enrollment that takes a PIN for every approval, with the PIN in a file. Without a file it is asked for at a
terminal: test_pin.py.

  $ sandbox
  $ agent
  $ private pin $'7362-Dæmø\n'
  $ kitchen="$(enroll --name kitchen --pin-file pin --json | field .authenticatorId)"
  $ pending() { requested --user-verification required --authenticator-id "$kitchen"; }
  $ tries_left() { oobctl enrollments --json | field '.[] | select(.name == "kitchen").pinTriesLeft'; }
  $ refused() { oobctl approve "$acs" --pin-file "$1"; echo "exit status $?"; }

# An enrollment with a PIN allows five tries

  $ oobctl enrollments --json | jq --compact-output '.[] | {authnType, pinTriesLeft}'
  {"authnType":"pin","pinTriesLeft":5}

# A PIN is read from a file, from standard input or from a pipe

  $ oobctl approve "$(pending)" --pin-file pin
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ chmod 400 pin && oobctl approve "$(pending)" --pin-file pin
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ chmod 644 pin && oobctl approve "$(pending)" --pin-file - <pin
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl approve "$(pending)" --pin-file <(cat pin)
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ chmod 600 pin

# A request that is approved without its PIN stays pending, and no try is counted

  $ acs="$(pending)"
  $ for try in 1 2 3 4 5; do oobctl approve "$acs"; done
  Error: enrollment <id 1> takes a PIN for every approval, and none was given
  Error: enrollment <id 1> takes a PIN for every approval, and none was given
  Error: enrollment <id 1> takes a PIN for every approval, and none was given
  Error: enrollment <id 1> takes a PIN for every approval, and none was given
  Error: enrollment <id 1> takes a PIN for every approval, and none was given
  [5]
  $ oobctl approve "$acs" --json
  {"error":{"code":70003,"message":"enrollment <id 1> takes a PIN for every approval, and none was given","name":"authnAccessDenied"}}
  [5]
  $ oobctl show "$acs" --json | field .state
  pending
  $ tries_left
  5

# A file that holds no PIN is wrong usage, and no try is counted

  $ private bad ''
  $ for content in '' '\n' '2468\n1357\n' '2468\n\n' 123 '%065d' '%0100000d' '72\xe66' '24\0068'; do
  >   printf "$content" >bad && refused bad
  > done
  Error: --pin-file: bad is empty.
  exit status 64
  Error: --pin-file: bad is empty.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: pin: it is too short; a PIN has 4 to 64 characters
  exit status 64
  Error: pin: it is too long; a PIN has 4 to 64 characters
  exit status 64
  Error: --pin-file: bad is too long for a PIN.
  exit status 64
  Error: --pin-file: bad is not UTF-8.
  exit status 64
  Error: pin: it holds a line break, a byte order mark or another control character; a PIN has 4 to 64 characters on one line
  exit status 64
  $ refused missing
  Error: --pin-file: missing cannot be read: No such file or directory
  exit status 64
  $ refused .
  Error: --pin-file: . cannot be read: Is a directory
  exit status 64
  $ refused /dev/stdin </dev/null
  Error: --pin-file: /dev/stdin is empty.
  exit status 64
  $ oobctl approve "$acs" --pin-file bad --json
  {"error":{"code":60002,"message":"pin: it holds a line break, a byte order mark or another control character; a PIN has 4 to 64 characters on one line","name":"invalidArgument"}}
  [64]
  $ tries_left
  5

# A second line is seen after the longest line that is read

  $ for length in 256 512; do
  >   for end in '' '\r\n' '\n2' '\r\n2' '\n2468\n'; do
  >     printf "%0${length}d$end" >bad && refused bad
  >   done
  > done
  Error: pin: it is too long; a PIN has 4 to 64 characters
  exit status 64
  Error: pin: it is too long; a PIN has 4 to 64 characters
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: pin: it is too long; a PIN has 4 to 64 characters
  exit status 64
  Error: pin: it is too long; a PIN has 4 to 64 characters
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64
  Error: --pin-file: bad has more than one line.
  exit status 64

The longest PIN has 64 characters of four bytes each.

  $ printf '😀%.0s' {1..64} >bad && printf '\n2468' >>bad && refused bad
  Error: --pin-file: bad has more than one line.
  exit status 64
  $ printf '😀%.0s' {1..64} >bad && printf '\n' >>bad && refused bad
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 1> is blocked
  exit status 5

# A file that other users may use holds no PIN

  $ private open "$(cat pin)"
  $ for mode in 644 640 604 620 602 610 601; do
  >   chmod "$mode" open && refused open
  > done
  Error: --pin-file: open has mode 0644, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0640, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0604, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0620, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0602, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0610, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  Error: --pin-file: open has mode 0601, so others than its owner may use it: chmod 600 makes it private.
  exit status 64
  $ tries_left
  4

# A file with a byte order mark holds no PIN

  $ printf '\ufeff7362-Dæmø' >bad && refused bad
  Error: --pin-file: bad begins with a byte order mark: save it as UTF-8 without one.
  exit status 64
  $ private new $'\ufeff8473 øæ'
  $ oobctl pin change kitchen --pin-file pin --new-pin-file new
  Error: --new-pin-file: new begins with a byte order mark: save it as UTF-8 without one.
  [64]
  $ tries_left
  4
  $ oobctl approve "$acs" --pin-file pin
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ tries_left
  5

# A PIN is refused if nothing would check it

  $ enroll --authn-type presence --pin-file pin 2>&1 | grep Error
  Error: --pin-file goes with --authn-type pin.
  [64]
  $ enroll --authn-type pin 2>&1 | grep Error
  Error: --authn-type pin takes --pin-file if there is no terminal to ask at.
  [64]
  $ acs="$(pending)"
  $ oobctl deny "$acs" --pin-file pin 2>&1 | grep Error
  Error: Unknown option '--pin-file'
  [64]

# A PIN is changed, and a wrong old one counts

  $ private new $'8473 øæ\r\n'
  $ oobctl pin change kitchen --pin-file pin --new-pin-file new
  Changed the PIN of <id 1>.
  $ oobctl pin change kitchen --pin-file pin --new-pin-file new
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 1> is blocked
  [5]
  $ oobctl approve "$acs" --pin-file pin
  Error: not verified: wrong PIN. 3 tries left before enrollment <id 1> is blocked
  [5]
  $ oobctl approve "$acs" --pin-file new
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ tries_left
  5

# A PIN is the same in both spellings of its letters

  $ private composed $'Gr\u00fc\u00dfe7'
  $ private decomposed $'Gru\u0308\u00dfe7'
  $ private other Grusse7
  $ oobctl pin change kitchen --pin-file new --new-pin-file decomposed
  Changed the PIN of <id 1>.
  $ oobctl approve "$(pending)" --pin-file composed
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl approve "$(pending)" --pin-file decomposed
  Approved USD 1.00 to CoffeeHouse2: the issuer took it (transStatus Y). The request has no return URL.
  $ oobctl approve "$(pending)" --pin-file other
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 1> is blocked
  [5]

# Five wrong PINs block the enrollment, also after a restart, and a deny is possible

  $ enroll --name counter --pin-file pin
  <id 2>
  Enrolled at http://localhost:<port> as counter.
  $ acs="$(requested)"
  $ denied="$(requested)"
  $ private wrong 0918273645
  $ for try in 1 2 3 4; do oobctl approve "$acs" --pin-file wrong; done
  Error: not verified: wrong PIN. 4 tries left before enrollment <id 2> is blocked
  Error: not verified: wrong PIN. 3 tries left before enrollment <id 2> is blocked
  Error: not verified: wrong PIN. 2 tries left before enrollment <id 2> is blocked
  Error: not verified: wrong PIN. 1 try left before enrollment <id 2> is blocked
  [5]
  $ oobctl approve "$acs" --pin-file wrong --json
  {"error":{"code":70004,"message":"enrollment <id 2> is blocked after 5 wrong PINs; the next try is possible at <time>, a deny at any time","name":"authnBlocked"}}
  [6]
  $ kill_agent
  $ agent
  $ oobctl approve "$acs" --pin-file pin
  Error: enrollment <id 2> is blocked after 5 wrong PINs; the next try is possible at <time>, a deny at any time
  [6]
  $ oobctl enrollments --json | jq --compact-output '.[1] | {name, state, blockedUntil}'
  {"name":"counter","state":"blocked","blockedUntil":"<time>"}
  $ oobctl deny "$denied"
  Denied USD 1.00 to CoffeeHouse2: the issuer took it (transStatus N). The request has no return URL.
  $ oobctl show "$acs" --json | field .state
  pending
  $ counter="$(oobctl enrollments --json | field .[1].id)"
  $ oobctl audit export | field "select(.enrollment == \"$counter\").entry" | grep -e notVerified -e blocked
  notVerified
  notVerified
  notVerified
  notVerified
  notVerified
  blocked

# No PIN is in the state directory or in the log

  $ grep --recursive --files-with-matches -e 7362-Dæmø -e '8473 øæ' -e 0918273645 state agent.log agent.out
  [1]
