Enrolling from a script. Nobody is asked there; what a person is asked at a terminal: test_enroll.py. Nothing listens
at localhost:1, so an error that says something else comes before anything is sent.

  $ sandbox
  $ agent

# A file that holds no code is wrong usage, and nothing is sent

  $ private code ''
  $ refused() { oobctl enroll --issuer http://localhost:1 "$@" 2>&1 | grep Error; }
  $ for content in '' '\n' ' \n' '\ufeff\n' 'a\nb\n' '%0257d' '%0100000d' '%0256d\nb' '\xe6' '\xff\xfeA\0B\0\r\0\n\0'; do
  >   printf "$content" >code && refused --code-file code
  > done
  Error: --code-file: code is empty.
  Error: --code-file: code is empty.
  Error: --code-file: code is empty.
  Error: --code-file: code is empty.
  Error: --code-file: code has more than one line.
  Error: --code-file: code is too long for a code.
  Error: --code-file: code is too long for a code.
  Error: --code-file: code has more than one line.
  Error: --code-file: code is not UTF-8.
  Error: --code-file: code is UTF-16: save it as UTF-8.
  [64]
  $ oobctl enroll --issuer http://localhost:1 --code-file code --json
  {"error":{"code":60002,"message":"--code-file: code is UTF-16: save it as UTF-8.","name":"invalidArgument"}}
  [64]
  $ printf 7QK4-M2XD >code
  $ chmod 644 code && refused --code-file code
  Error: --code-file: code has mode 0644, so others than its owner may use it: chmod 600 makes it private.
  [64]
  $ chmod 600 code && refused --code-file code
  Error: the issuer http://localhost:1 cannot be used: the issuer refused the connection
  [1]
  $ refused --code-file code --code x
  Error: Give the issuer's link, or --issuer and one of --code and --code-file.
  [64]
  $ refused --code-file code 'oob-enroll:?issuer=http%3A%2F%2Flocalhost%3A1&code=x'
  Error: Give the issuer's link, or --issuer and one of --code and --code-file.
  [64]
  $ refused --code-file - --pin-file - </dev/null
  Error: Standard input holds the code or the PIN: name a file for the other.
  [64]

# A link of another form is refused with what is allowed

  $ for link in https://issuer.example 'oob-enroll:?issuer=https%3A%2F%2Fi.example' \
  >   'oob-enroll:?issuer=x&code=y&name=z' 'oob-enroll:?issuer=x&code=y&code=z' \
  >   'oob-enroll:?issuer=%E2%80%AEx&code=y' 'oob-enroll:?issuer=x&code=%' \
  >   "$(printf 'oob-enroll:?issuer=x&code=%04096d')"; do
  >   oobctl enroll "$link" 2>&1 | grep Error
  > done
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: it must begin with oob-enroll:?.
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: it must have both issuer and code (a shell takes & for its own: put the link in quotes).
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: its parameters are issuer=… and code=…, once each, and no others.
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: code is given twice, and only one is allowed.
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: issuer must be percent-encoded printable ASCII without spaces, and not empty.
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: code must be percent-encoded printable ASCII without spaces, and not empty.
  Error: The enrollment link is not of the form oob-enroll:?issuer=…&code=…: it may have 4,096 bytes at most.
  [64]
  $ oobctl enroll https://issuer.example --json 2>&1 | field .error.code
  60002
  [64]

# An issuer whose name could mislead is refused, and shown escaped

  $ for issuer in https://bänk.example $'https://b\u202eknab' $'https://a\e[2J'; do
  >   oobctl enroll --issuer "$issuer" --code x 2>&1 | grep Error
  > done
  Error: An issuer's URL has 1 to 2048 characters of printable ASCII, an international host name in its xn-- form; this one is: https://bänk.example
  Error: An issuer's URL has 1 to 2048 characters of printable ASCII, an international host name in its xn-- form; this one is: https://b\u{202E}knab
  Error: An issuer's URL has 1 to 2048 characters of printable ASCII, an international host name in its xn-- form; this one is: https://a\u{1B}[2J
  [64]

# Roots that cannot be used are refused before anything is sent

  $ pem() { printf -- '-----BEGIN %s-----\nAAAA\n-----END %s-----\n' "$1" "$1"; }
  $ pem CERTIFICATE >roots.pem
  $ refused --code x --ca-file roots.pem
  Error: the root certificates hold no certificate, or one that cannot be read
  [64]
  $ (pem CERTIFICATE; pem 'EC PRIVATE KEY') >roots.pem
  $ refused --code x --ca-file roots.pem
  Error: --ca-file: roots.pem holds a private key; give certificates only.
  [64]
  $ oobctl enroll --issuer http://localhost:1 --code x --ca-file roots.pem --json
  {"error":{"code":60002,"message":"--ca-file: roots.pem holds a private key; give certificates only.","name":"invalidArgument"}}
  [64]

# An enrollment that was refused leaves nothing

  $ oobctl enrollments --json
  []

# A link enrolls, and nobody is asked

  $ oobctl enroll "$(issuer code --json | field .link)"
  <id 1>
  Enrolled at http://localhost:<port> as localhost.

# A code that is not accepted exits with 9 and says what to do next

  $ code="$(code)"
  $ oobctl enroll --issuer "$ISSUER" --code "$code"
  <id 2>
  Enrolled at http://localhost:<port> as localhost-2.
  $ oobctl enroll --issuer "$ISSUER" --code "$code"
  Error: the issuer http://localhost:<port> does not accept the enrollment code: it is mistyped, was used before (a code is good for one enrollment), or is too old. Ask the issuer for a new one, and enroll again with it
  [9]
  $ oobctl enroll --issuer "$ISSUER" --code WRONG --json
  {"error":{"code":70005,"message":"the issuer http://localhost:<port> does not accept the enrollment code: it is mistyped, was used before (a code is good for one enrollment), or is too old. Ask the issuer for a new one, and enroll again with it","name":"authnInvalidEnrollmentToken"}}
  [9]

# A code may begin with a dash

  $ oobctl enroll --issuer "$ISSUER" --code -h5Code
  Error: the issuer http://localhost:<port> does not accept the enrollment code: it is mistyped, was used before (a code is good for one enrollment), or is too old. Ask the issuer for a new one, and enroll again with it
  [9]

# A code comes from a file or standard input, so that no command line has it

  $ for end in '' '\n' '\r\n'; do
  >   printf "%s$end" "$(code)" >code && oobctl enroll --issuer "$ISSUER" --code-file code
  >   printf "%s$end" "$(code)" | oobctl enroll --issuer "$ISSUER" --code-file -
  > done
  <id 3>
  Enrolled at http://localhost:<port> as localhost-3.
  <id 4>
  Enrolled at http://localhost:<port> as localhost-4.
  <id 5>
  Enrolled at http://localhost:<port> as localhost-5.
  <id 6>
  Enrolled at http://localhost:<port> as localhost-6.
  <id 7>
  Enrolled at http://localhost:<port> as localhost-7.
  <id 8>
  Enrolled at http://localhost:<port> as localhost-8.

# A code may have a byte order mark and space around it

  $ for form in '\ufeff%s\n' ' %s \n' '\ufeff\t%s\u00a0' '\r\n%s\n\n'; do
  >   printf "$form" "$(code)" >code && oobctl enroll --issuer "$ISSUER" --code-file code
  > done
  <id 9>
  Enrolled at http://localhost:<port> as localhost-9.
  <id 10>
  Enrolled at http://localhost:<port> as localhost-10.
  <id 11>
  Enrolled at http://localhost:<port> as localhost-11.
  <id 12>
  Enrolled at http://localhost:<port> as localhost-12.
  $ oobctl enroll --issuer "$ISSUER" --code " $(code) "
  <id 13>
  Enrolled at http://localhost:<port> as localhost-13.

# An issuer's scheme and host are written in any case, and it is the same issuer

  $ in_capitals="HTTP://LocalHost${ISSUER#http://localhost}"
  $ oobctl enroll --issuer "$in_capitals" --code "$(code)"
  <id 14>
  Enrolled at http://localhost:<port> as localhost-14.
  $ oobctl enroll "oob-enroll:?issuer=${in_capitals//:/%3A}&code=$(code)"
  <id 15>
  Enrolled at http://localhost:<port> as localhost-15.
  $ oobctl enrollments --json | field .[].issuer | sort --unique
  http://localhost:<port>
