// Signs the claims of standard input with golang-jwt, under a key that is thrown away.
//
// GO111MODULE=off GOPATH=/usr/share/gocode go run golang_jwt.go < claims.json
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"os"

	"github.com/golang-jwt/jwt"
)

type request struct {
	jwt.RegisteredClaims
	Nonce       string          `json:"nonce"`
	Transaction json.RawMessage `json:"transaction"`
	PublicKey   json.RawMessage `json:"publicKey"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var claims request
	check(json.NewDecoder(os.Stdin).Decode(&claims))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	sign := func(headers map[string]interface{}) string {
		token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
		for name, value := range headers {
			token.Header[name] = value
		}
		text, err := token.SignedString(key)
		check(err)
		return text
	}
	coordinate := func(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }
	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"key": map[string]string{
			"kty": "EC", "crv": "P-256", "x": coordinate(key.X.FillBytes(make([]byte, 32))),
			"y": coordinate(key.Y.FillBytes(make([]byte, 32)))},
		"named":    sign(map[string]interface{}{"kid": "2026-1", "typ": "oob-authn-request+jwt"}),
		"untyped":  sign(map[string]interface{}{"kid": "2026-1"}),
		"nameless": sign(map[string]interface{}{"typ": "oob-authn-request+jwt"}),
	})
}
