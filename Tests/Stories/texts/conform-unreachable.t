`oob-conform issuer` against what is no issuer: it says why in one line, and plays no case.

  $ ln -s "$TESTDIR/../../../conformance" conformance
  $ judge() { oob-conform issuer "$@" --code-command true --purchase-command true </dev/null; }

A server that answers each call with a status, a type and the bytes of a file, over TLS if there is a certificate:

  $ cat >server.py <<'END'
  > import ssl, sys
  > from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
  > status, kind, file, *certificate = sys.argv[1:]
  > class Handler(BaseHTTPRequestHandler):
  >     def do_GET(self):
  >         with open(file, "rb") as opened:
  >             body = opened.read()
  >         self.send_response(int(status))
  >         self.send_header("content-type", kind)
  >         self.send_header("location", "http://localhost:1/elsewhere")
  >         self.send_header("content-length", str(len(body)))
  >         self.end_headers()
  >         self.wfile.write(body)
  > server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
  > if certificate:
  >     context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
  >     context.load_cert_chain(*certificate)
  >     server.socket = context.wrap_socket(server.socket, server_side=True)
  > print(f"localhost:{server.server_address[1]}", flush=True)
  > server.serve_forever()
  > END
  $ serve() {
  >   rm --force address
  >   python3 server.py "$@" >address 2>>server.log </dev/null &
  >   started+=($!)
  >   until_true grep --quiet localhost: address
  >   ADDRESS="$(cat address)"
  > }

# A port where nobody listens takes no connection

  $ judge http://localhost:9
  oob-conform: the issuer http://localhost:9 takes no connection
  [2]

# An answer in HTML is reported as HTML

  $ echo '<h1>Welcome</h1>' >page.html
  $ serve 404 text/html page.html
  $ judge "http://$ADDRESS"
  oob-conform: http://localhost:<port>/.well-known/oob-authenticator answers HTTP 404 with text/html, and not 200 with the discovery document (section 3)
  [2]
  $ serve 200 text/html page.html
  $ judge "http://$ADDRESS"
  oob-conform: http://localhost:<port>/.well-known/oob-authenticator answers 200 with text/html that is no JSON object (section 3)
  [2]

# A redirect is not followed

  $ serve 302 text/plain /dev/null
  $ judge "http://$ADDRESS"
  oob-conform: http://localhost:<port>/.well-known/oob-authenticator answers HTTP 302 with text/plain, and not 200 with the discovery document (section 3)
  [2]

# An issuer that never answers is given up

  $ mkfifo never
  $ serve 200 application/json never
  $ judge "http://$ADDRESS"
  oob-conform: the issuer http://localhost:<port> did not answer in time
  [2]

# An issuer that answers too much is given up

  $ head --bytes 3000000 /dev/zero | tr '\0' ' ' >spaces
  $ serve 200 application/json spaces
  $ judge "http://$ADDRESS"
  oob-conform: the issuer http://localhost:<port> answered with more than 2097152 bytes
  [2]

# An answer of one character and two megabytes fills neither memory nor reports

The character has a million accents. Reports may have 20 kB for each case that failed, and the run 300 MB of memory.

  $ { printf '{"x":"a' && printf '\xcc\x81%.0s' {1..1000000} && printf '"}'; } >accents
  $ serve 200 application/json accents
  $ cat >peak.py <<'END'
  > import resource, subprocess, sys
  > status = subprocess.run(sys.argv[1:]).returncode
  > print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300_000)
  > sys.exit(status)
  > END
  $ python3 peak.py oob-conform issuer "http://$ADDRESS" --code-command 'echo abc-def' --purchase-command true \
  >   --section 4 --json big.json --junit big.xml --html big.html </dev/null | grep True
  True
  [1]
  $ failed="$(jq '[.cases[] | select(.verdict == "failed")] | length' big.json)"
  $ ((failed > 20)) && find big.* -size "-$((20000 * failed))c" | sort
  big.html
  big.json
  big.xml

# A certificate that is not trusted or has expired is reported

  $ certificate() {
  >   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -days 1 \
  >     -subj /CN=localhost "${@:2}" 2>/dev/null
  > }
  $ certificate named -addext subjectAltName=DNS:localhost
  $ echo {} >object
  $ serve 200 application/json object named.pem named.key
  $ judge "https://$ADDRESS"
  oob-conform: the issuer https://localhost:<port> failed in TLS: its certificate does not lead to a trusted root, or is not valid now
  [2]
  $ faketime '+3 days' oob-conform issuer "https://$ADDRESS" --code-command true --purchase-command true \
  >   --ca-file named.pem </dev/null
  oob-conform: the issuer https://localhost:<port> failed in TLS: its certificate does not lead to a trusted root, or is not valid now
  [2]

Trusted, it is asked. It answers what is no discovery document, which a case says.

  $ judge "https://$ADDRESS" --ca-file named.pem --case discovery | grep discovery:
    discovery: the discovery document is not in order: discovery/protocolVersions: is missing; section 3
  [1]

# A name in CN alone is refused

  $ certificate unnamed
  $ serve 200 application/json object unnamed.pem unnamed.key
  $ judge "https://$ADDRESS" --ca-file unnamed.pem
  oob-conform: the issuer https://localhost:<port> has a certificate without a subjectAltName: put localhost there, as a name in CN alone does not count
  [2]

# An answer in HTTP where TLS is expected is reported

  $ serve 200 application/json object
  $ judge "https://$ADDRESS"
  oob-conform: the issuer https://localhost:<port> failed in TLS: what answers does not speak TLS
  [2]
